import { spawnSync } from 'node:child_process';
import { closeAfterTests } from '../support/cleanup';
import { freePort } from '../support/free-port';
import { emptyPostgres, noPostgres } from '../support/stores';
import type { Terminal } from './support/terminal';
import { Tutorial } from './support/tutorial';

/** Opens the last printed URL, and submits Pay like the form of the page. */
async function pay(terminal: Terminal): Promise<void> {
  const [, page = ''] = [...terminal.output.matchAll(/Pay at (\S+)/g)].at(-1) ?? [];
  await fetch(page);
  const origin = new URL(page).origin;
  await fetch(`${page}/pay`, { method: 'POST', redirect: 'manual', headers: { origin } });
}

test.each([
  ['docs/start-frontend.md', { payer: pay }],
  ['docs/start-service.md', {}],
  ['docs/start-changes.md', {}],
])('The tutorial %s, followed literally, has the results that it describes', (file, people) => {
  const env = { PORT: '0', SANDBOX_PORT: '0', MAX_EVENT_LOOP_LAG_MS: '0' };
  return new Tutorial(file, { env, people }).follow();
});

const noNginx = spawnSync('which', ['nginx']).status === 0 ? undefined : 'SKIPPED: there is no nginx';
const skipped = noPostgres ?? noNginx;
if (skipped) console.warn(`${skipped}: docs/start-operator.md`);

(skipped ? test.skip : test)(
  'The tutorial docs/start-operator.md, followed literally, has the results that it describes',
  async () => {
    const store = await emptyPostgres();
    closeAfterTests({ close: () => store.drop() });
    const here: Record<string, string> = { 'postgres://postgres@127.0.0.1:5432/test': store.url };
    for (const port of [4001, 4011, 4012, 8080]) {
      const free = await freePort();
      here[`127.0.0.1:${port}`] = `127.0.0.1:${free}`;
      here[`PORT=${port} `] = `PORT=${free} `;
    }
    const env = { MAX_EVENT_LOOP_LAG_MS: '0', LANG: 'C' };
    await new Tutorial('docs/start-operator.md', { env, here }).follow();
  },
);
