/** Initial widths of GraphiQL's columns, as flex factors. */
const DEFAULT_WIDTHS: Readonly<Record<string, string>> = {
  'graphiql:docExplorerFlex': '0.26',
  'graphiql:editorFlex': '1.8',
};

/** Matches the keys that are stored in the browser: only theme and layout. */
const PERSISTED_KEY = /^graphiql:(theme|visiblePlugin|\w+Flex)$/;

/**
 * Creates GraphiQL's storage. Tabs and history stay in memory, because their variables may contain card numbers, and
 * their headers keys.
 */
export function createStorage(browser: Storage) {
  const memory = new Map<string, string>();
  return {
    getItem: (key: string): string | null =>
      (PERSISTED_KEY.test(key) ? browser.getItem(key) : memory.get(key)) ?? DEFAULT_WIDTHS[key] ?? null,
    setItem(key: string, value: string): void {
      if (PERSISTED_KEY.test(key)) browser.setItem(key, value);
      else memory.set(key, value);
    },
    removeItem(key: string): void {
      memory.delete(key);
      browser.removeItem(key);
    },
    clear(): void {
      memory.clear();
      for (const key of Object.keys(browser)) if (PERSISTED_KEY.test(key)) browser.removeItem(key);
    },
    get length(): number {
      return memory.size;
    },
  };
}
