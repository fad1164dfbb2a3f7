import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * A port where nobody listens, for programs that have to be told one: below those that the system gives out, so that nobody
 * gets it meanwhile.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(10_000, 30_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) =>
      server.once('error', () => resolve(false)).listen(port, () => resolve(true)),
    );
    if (!isFree) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}
