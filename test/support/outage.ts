import type { Store } from './stores';
import { TcpProxy } from './tcp-proxy';

/** A store whose journal a test can make unreachable for the gateway. */
export interface Outage {
  store: Store;
  down(): Promise<void>;
  /** Ends the outage, if there is one. */
  up(): Promise<void>;
  close(): Promise<void>;
}

async function lockedFile(store: Store): Promise<Outage> {
  let unlock: (() => Promise<void>) | undefined;
  const up = async (): Promise<void> => {
    await unlock?.();
    unlock = undefined;
  };
  const down = async (): Promise<void> => void (unlock = await store.hold());
  return { store, down, up, close: up };
}

async function behindProxy(store: Store, fail: (proxy: TcpProxy) => unknown): Promise<Outage> {
  const proxy = await TcpProxy.to(store.url);
  let isDown = false;
  return {
    store: { ...store, url: proxy.through(store.url) },
    down: async () => {
      isDown = true;
      await fail(proxy);
    },
    up: async () => {
      if (!isDown) return;
      isDown = false;
      proxy.discards = false;
      // Connections that were open during the outage have lost bytes, and are therefore closed.
      await proxy.refuse();
      await proxy.listen();
    },
    close: () => proxy.close(),
  };
}

export const OUTAGES = {
  SQLite: { 'another process holds the write lock': lockedFile },
  PostgreSQL: {
    'the database is silent': (store: Store) => behindProxy(store, (proxy) => (proxy.discards = true)),
    'the database refuses connections': (store: Store) => behindProxy(store, (proxy) => proxy.refuse()),
  },
} satisfies Record<Store['kind'], Record<string, (store: Store) => Promise<Outage>>>;
