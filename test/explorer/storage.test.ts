import { createStorage } from '../../explorer/storage';

/** A browser's storage, as far as the page uses it. */
function browserStorage() {
  const kept: Record<string, string> = {};
  const methods = {
    getItem: (key: string) => kept[key] ?? null,
    setItem: (key: string, value: string) => void (kept[key] = value),
    removeItem: (key: string) => void Reflect.deleteProperty(kept, key),
  };
  return { kept, storage: createStorage(Object.assign(Object.create(methods), kept) as Storage) };
}

test.each(['tabState', 'query', 'variables', 'headers', 'queries', 'favorites', 'operationName'])(
  'what is kept as %s is there for the page and not in the browser',
  (name) => {
    const { kept, storage } = browserStorage();
    storage.setItem(`graphiql:${name}`, 'Bearer pgk_key');
    expect(storage.getItem(`graphiql:${name}`)).toBe('Bearer pgk_key');
    expect(kept).toEqual({});
    storage.removeItem(`graphiql:${name}`);
    expect(storage.getItem(`graphiql:${name}`)).toBeNull();
  },
);

test.each(['theme', 'visiblePlugin', 'editorFlex', 'docExplorerFlex', 'secondaryEditorFlex'])(
  'the page looks the same the next time: %s',
  (name) => {
    const { kept, storage } = browserStorage();
    storage.setItem(`graphiql:${name}`, '1');
    expect(kept).toEqual({ [`graphiql:${name}`]: '1' });
    expect(storage.getItem(`graphiql:${name}`)).toBe('1');
    storage.removeItem(`graphiql:${name}`);
    expect(kept).toEqual({});
  },
);
