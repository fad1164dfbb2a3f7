/** Initial widths of the columns. */
const DEFAULT_WIDTHS: Readonly<Record<string, string>> = {
  'graphiql:docExplorerFlex': '0.26',
  'graphiql:editorFlex': '1.8',
};

/** Only settings of the layout are stored in the browser. */
const PERSISTENT = /^graphiql:(theme|visiblePlugin|\w+Flex)$/;

/**
 * The storage of GraphiQL. Tabs and history are kept in memory only, because variables may contain card numbers and
 * headers contain keys.
 */
export function createStorage(browser: Storage) {
  const memory = new Map<string, string>();
  return {
    getItem: (key: string): string | null =>
      (PERSISTENT.test(key) ? browser.getItem(key) : memory.get(key)) ?? DEFAULT_WIDTHS[key] ?? null,
    setItem(key: string, value: string): void {
      if (PERSISTENT.test(key)) browser.setItem(key, value);
      else memory.set(key, value);
    },
    removeItem(key: string): void {
      memory.delete(key);
      browser.removeItem(key);
    },
    clear(): void {
      memory.clear();
      for (const key of Object.keys(browser)) if (PERSISTENT.test(key)) browser.removeItem(key);
    },
    get length(): number {
      return memory.size;
    },
  };
}
