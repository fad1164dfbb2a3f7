/** The addresses of Monaco's workers, which the build puts in. */
declare const WORKERS: Record<'editor' | 'json' | 'graphql', string>;

/** Where Monaco gets its workers from: this gateway. */
window.MonacoEnvironment = {
  getWorker: (_id: string, label: string) => {
    const file = label === 'json' || label === 'graphql' ? WORKERS[label] : WORKERS.editor;
    return new Worker(new URL(file, document.baseURI));
  },
};
