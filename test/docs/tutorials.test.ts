import { readPage } from './support/markdown';
import { Tutorial } from './support/tutorial';
import type { Terminal } from './support/terminal';

// Programs start, and other tests run beside this one.
jest.setTimeout(180_000);

/** Free ports, and a gateway that is not late because the machine is busy. */
const APART = { PORT: '0', SANDBOX_PORT: '0', MAX_EVENT_LOOP_LAG_MS: '0' };

/** Opens the address that was printed last, and presses Pay as the page's form does. */
async function pay(terminal: Terminal): Promise<void> {
  const [, page = ''] = [...terminal.output.matchAll(/Pay at (\S+)/g)].at(-1) ?? [];
  await fetch(page);
  const origin = new URL(page).origin;
  await fetch(`${page}/pay`, { method: 'POST', redirect: 'manual', headers: { origin } });
}

describe.each([
  ['docs/start-frontend.md', { payer: pay }],
  ['docs/start-service.md', {}],
])('%s, followed literally', (file, people) => {
  const tutorial = new Tutorial(file, { env: APART, people });
  test.each(tutorial.steps)('%s', async (_title, fence) => {
    await tutorial.follow(fence);
  });

  test('names every file that is to be saved', () => {
    const saved = readPage(file).fences.flatMap(({ words }) => /^file=(.+)$/.exec(words[0] ?? '')?.[1] ?? []);
    expect(readPage(file).inline).toEqual(expect.arrayContaining(saved));
  });
});
