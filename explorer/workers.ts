/** URLs of Monaco's workers, defined by the build. */
declare const WORKERS: Record<'editor' | 'json' | 'graphql', string>;

/** Monaco loads its workers from this gateway. */
window.MonacoEnvironment = {
  getWorker: (_id: string, label: string) => {
    const file = label === 'json' || label === 'graphql' ? WORKERS[label] : WORKERS.editor;
    return new Worker(new URL(file, document.baseURI));
  },
};
