/** URLs of the web workers of the Monaco editor, relative to the page. The build defines this constant. */
declare const WORKERS: Record<'editor' | 'json' | 'graphql', string>;

/** Makes the Monaco editor load its web workers from this gateway. */
window.MonacoEnvironment = {
  getWorker: (_id: string, label: string) => {
    const file = label === 'json' || label === 'graphql' ? WORKERS[label] : WORKERS.editor;
    return new Worker(new URL(file, document.baseURI));
  },
};
