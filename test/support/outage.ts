import type { Store } from './stores';
import { TcpProxy } from './tcp-proxy';

/** A store whose journal a test can make unreachable for the gateway, and reachable again. */
export interface Outage {
  /** The store to give to the gateway. */
  store: Store;
  down(): Promise<void>;
  up(): Promise<void>;
  close(): Promise<void>;
}

/** A file whose write lock is held by somebody else during the outage. */
async function lockedFile(store: Store): Promise<Outage> {
  let unlock: (() => Promise<void>) | undefined;
  const up = async (): Promise<void> => {
    await unlock?.();
    unlock = undefined;
  };
  const down = async (): Promise<void> => void (unlock = await store.hold());
  return { store, down, up, close: up };
}

/** A database behind a TCP proxy to which something happens. */
async function behindProxy(store: Store, fail: (proxy: TcpProxy) => unknown): Promise<Outage> {
  const proxy = await TcpProxy.to(store.url);
  return {
    store: { ...store, url: proxy.through(store.url) },
    down: async () => void (await fail(proxy)),
    up: async () => {
      proxy.discards = false;
      // Bytes are missing on the open connections.
      await proxy.refuse();
      await proxy.listen();
    },
    close: () => proxy.close(),
  };
}

/** The outages of each kind of store. */
export const OUTAGES = {
  SQLite: { 'another process holds the write lock': lockedFile },
  PostgreSQL: {
    'the database is silent': (store: Store) => behindProxy(store, (proxy) => (proxy.discards = true)),
    'the database refuses connections': (store: Store) => behindProxy(store, (proxy) => proxy.refuse()),
  },
} satisfies Record<Store['kind'], Record<string, (store: Store) => Promise<Outage>>>;
