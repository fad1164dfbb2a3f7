import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { noPostgres, postgresPlace, type Place } from '../journal/support/stores';
import { Tutorial } from './support/tutorial';

// Programs start, and other tests run beside this one.
jest.setTimeout(180_000);

const FOLDERS = [...(process.env['PATH'] ?? '').split(path.delimiter), '/usr/sbin'];
const noNginx = FOLDERS.some((folder) => existsSync(path.join(folder, 'nginx')))
  ? undefined
  : 'SKIPPED: there is no nginx';
const skipped = noPostgres ?? noNginx;

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });

/** Ports that are free and that the system gives to nobody who asks for any: it takes those from 32768 on. */
async function freePorts(count: number): Promise<number[]> {
  const found: number[] = [];
  let port = 23_000 + Math.floor(Math.random() * 9_000);
  for (; found.length < count; port += 1) if (await isFree(port)) found.push(port);
  return found;
}

const TITLE = 'docs/start-operator.md, followed literally';

if (skipped) {
  console.warn(`${skipped}: ${TITLE}`);
  test.skip(`${skipped}: ${TITLE}`, () => undefined);
} else {
  describe(TITLE, () => {
    const here: Record<string, string> = {};
    const tutorial = new Tutorial('docs/start-operator.md', {
      env: { MAX_EVENT_LOOP_LAG_MS: '0', LANG: 'C' },
      here,
    });
    let place: Place;

    beforeAll(async () => {
      place = await postgresPlace();
      here['postgres://postgres@127.0.0.1:5432/test'] = place.url;
      const written = [4001, 4011, 4012, 8080];
      for (const [index, port] of (await freePorts(written.length)).entries()) {
        here[`127.0.0.1:${written[index]}`] = `127.0.0.1:${port}`;
        here[`PORT=${written[index]} `] = `PORT=${port} `;
      }
    });
    afterAll(async () => {
      await tutorial.close();
      await place.drop();
    });

    test.each(tutorial.steps)('%s', async (_title, fence) => {
      await tutorial.follow(fence);
    });
  });
}
