/** Widths until somebody moves a bar: of the panel to the rest of the page, and of the operation to its answer. */
const UNLESS_MOVED: Readonly<Record<string, string>> = {
  'graphiql:docExplorerFlex': '0.26',
  'graphiql:editorFlex': '1.8',
};

/** How the page looks: the only things that outlive it. */
const KEPT = /^graphiql:(theme|visiblePlugin|\w+Flex)$/;

/**
 * Keeps what GraphiQL would put in the browser's storage. Variables can hold card numbers, and headers hold keys: so
 * tabs and history live in memory, and are gone with the page.
 */
export function createStorage(browser: Storage) {
  const memory = new Map<string, string>();
  return {
    getItem: (key: string): string | null =>
      (KEPT.test(key) ? browser.getItem(key) : memory.get(key)) ?? UNLESS_MOVED[key] ?? null,
    setItem(key: string, value: string): void {
      if (KEPT.test(key)) browser.setItem(key, value);
      else memory.set(key, value);
    },
    removeItem(key: string): void {
      memory.delete(key);
      browser.removeItem(key);
    },
    clear(): void {
      memory.clear();
      for (const key of Object.keys(browser)) if (KEPT.test(key)) browser.removeItem(key);
    },
    get length(): number {
      return memory.size;
    },
  };
}
