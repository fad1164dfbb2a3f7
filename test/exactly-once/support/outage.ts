import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import type { Store } from './stores';

/** A store whose journal can be taken away from the gateway, and given back. */
export interface Outage {
  /** What the gateway is told to use. */
  store: Store;
  down(): Promise<void>;
  up(): Promise<void>;
  close(): Promise<void>;
}

/** Another process holds the file: nobody else writes. */
function lockedFile(store: Store): Outage {
  let holder: DatabaseSync | undefined;
  const up = async (): Promise<void> => {
    holder?.close();
    holder = undefined;
  };
  return {
    store,
    down: async () => {
      holder = new DatabaseSync(store.url.slice('file:'.length), { timeout: 5000 });
      holder.exec('BEGIN IMMEDIATE');
    },
    up,
    close: up,
  };
}

type Trouble = 'none' | 'silent' | 'refusing';

/** A way to the database that can stop to let anything through. */
async function proxied(store: Store, trouble: Trouble): Promise<Outage> {
  const { hostname, port } = new URL(store.url);
  const ways = new Set<Socket>();
  let now: Trouble = 'none';
  const server = createServer((near) => {
    const far = connect(Number(port || 5432), hostname);
    ways.add(near);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', (chunk) => now === 'none' && to.write(chunk));
      from.on('error', () => undefined);
      from.once('close', () => {
        to.destroy();
        ways.delete(near);
      });
    }
  });
  const listen = async (at: number): Promise<void> => {
    server.listen(at, '127.0.0.1');
    await once(server, 'listening');
  };
  await listen(0);
  const own = (server.address() as AddressInfo).port;
  const url = new URL(store.url);
  url.host = `127.0.0.1:${own}`;
  const stop = async (): Promise<void> => {
    const closed = once(server, 'close');
    server.close();
    for (const way of ways) way.destroy();
    await closed;
  };
  return {
    store: { ...store, url: url.href },
    down: async () => {
      now = trouble;
      if (trouble === 'refusing') await stop();
    },
    up: async () => {
      const was = now;
      now = 'none';
      // What was swallowed meanwhile is missing: such connections are of no use any more.
      for (const way of ways) way.destroy();
      if (was === 'refusing') await listen(own);
    },
    close: async () => {
      if (server.listening) await stop();
    },
  };
}

/** The ways in which a store of that kind can be out of reach. */
export const OUTAGES = {
  SQLite: { 'another process holds the file': async (store: Store) => lockedFile(store) },
  PostgreSQL: {
    'the database says nothing': (store: Store) => proxied(store, 'silent'),
    'the database refuses connections': (store: Store) => proxied(store, 'refusing'),
  },
} satisfies Record<Store['kind'], Record<string, (store: Store) => Promise<Outage>>>;
