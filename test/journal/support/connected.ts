import { Client } from 'pg';

/** Opens a connection that closes at the end of its block, also after a failure: open transactions delay others. */
export async function connected(url: string): Promise<Client & AsyncDisposable> {
  const client = new Client(url);
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}
