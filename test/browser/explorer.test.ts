import type { Page } from 'playwright-core';
import { SANDBOX_CREDENTIALS } from '../../src/config';
import type { Sandbox } from '../../src/sandbox/server';
import { until } from '../exactly-once/support/gate';
import { buildIfStale } from '../explorer/support/built';
import { startOpenGateway } from '../http/support/open-gateway';
import { CLIENT_KEY } from '../support/credentials';
import { closeAfterTests, testGateway, testSandbox } from '../support/gateway';
import { inBrowser, overhang, picture, type Opened } from './chromium';

// Somebody else may be building, and Monaco is large.
jest.setTimeout(240_000);

/** Tells of everything that the page's policy forbids. */
const WATCH_POLICY = `document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
  console.error('policy: ' + violatedDirective + ' ' + blockedURI));`;

/** Chooses a tab, and waits until the page shows what is in it. */
async function choose(page: Page, name: string): Promise<void> {
  await page.locator('.graphiql-tab-button', { hasText: name }).last().click();
  await shows(page, name);
}

/** Waits until a tab is the active one and its operation stands in the editor. */
async function shows(page: Page, name: string): Promise<void> {
  await page.locator('.graphiql-tab[aria-selected="true"]', { hasText: name }).waitFor();
  await page.locator('.graphiql-query-editor .view-lines', { hasText: `${name}(` }).waitFor();
}

const run = (page: Page): Promise<void> => page.getByRole('button', { name: /^Execute query/ }).click();

/** Waits until the answer says that. */
const answered = (page: Page, text: string | RegExp): Promise<void> =>
  page.locator('.result-window .view-lines', { hasText: text }).waitFor();

const runTab = async (page: Page, name: string, text: string | RegExp): Promise<void> => {
  await choose(page, name);
  await run(page);
  await answered(page, text);
};

const status = (word: string): RegExp => new RegExp(`"status":\\s"${word}"`);

/** What the page has left in the browser. */
const stored = (page: Page): Promise<string> =>
  page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])');

inBrowser('The explorer', (browser) => {
  let sandbox: Sandbox;
  let url: string;

  beforeAll(async () => {
    buildIfStale();
    const { apiKey, secretKey } = SANDBOX_CREDENTIALS;
    sandbox = await testSandbox({ apiKey: apiKey.reveal(), secretKey: secretKey.reveal() });
    url = closeAfterTests(await startOpenGateway(sandbox.url)).url;
  });

  /** Opens the explorer of a gateway and waits until it is ready. */
  async function explore(base = url, width = 1440): Promise<Opened & { asked: string[] }> {
    const opened = await browser.open({ viewport: { width, height: 900 } });
    const { page } = opened;
    page.setDefaultTimeout(60_000);
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    page.on('websocket', (socket) => asked.push(socket.url()));
    await page.addInitScript(WATCH_POLICY);
    await page.goto(`${base}/explorer`);
    await shows(page, 'CreateRedirect');
    return { ...opened, asked };
  }

  /** The newest transaction that the sandbox has. */
  const newest = (): string => sandbox.control.transactions(1)[0]?.transactionId ?? '';

  test('runs a ready operation as it stands, and asks no other host for anything', async () => {
    const { page, faults, asked } = await explore();
    await run(page);
    await answered(page, status('PENDING'));
    await picture(page, 'explorer');
    const workers = await until(
      () => page.workers().map((worker) => worker.url()),
      (urls) => urls.length >= 3,
    );
    const { host } = new URL(url);
    const foreign = [...asked, ...workers].filter(
      (one) => !one.startsWith('data:') && new URL(one).host !== host,
    );
    expect(foreign).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('shows the payer paying, live and without being loaded again', async () => {
    const { page, faults, asked } = await explore();
    await run(page);
    await answered(page, status('PENDING'));
    const transactionId = newest();
    await page.evaluate('globalThis.stays = true');
    // A long line of an answer is wrapped.
    await runTab(page, 'WatchPayment', transactionId.slice(0, 8));
    await answered(page, status('PENDING'));

    const payer = await browser.open();
    await payer.page.goto(new URL(`pay/${transactionId}`, sandbox.url).href);
    await payer.page.getByRole('button', { name: 'Pay 10.00 EUR', exact: true }).click();
    await answered(page, status('COMPLETED'));
    await picture(page, 'explorer-live');

    expect(await page.evaluate('globalThis.stays')).toBe(true);
    expect(asked.filter((one) => one.startsWith('ws'))).toEqual([`${url.replace('http', 'ws')}/graphql`]);
    // The service has said its last word: the button runs again, and stops nothing.
    await page.getByRole('button', { name: /^Execute query/ }).waitFor();
    expect(faults).toEqual([]);
  });

  test('says what to run first where an id is not there yet, then fills it in', async () => {
    const { page, faults } = await explore();
    await runTab(page, 'ConfirmUpi', 'run CreateUpi first');
    expect(await page.locator('.result-window').innerText()).not.toContain('stack');
    await runTab(page, 'CreateUpi', 'ProvideUtrAction');
    await runTab(page, 'ConfirmUpi', status('COMPLETED'));
    expect(faults).toEqual([]);
  });

  test('opens any method in a tab of its own, each time with a new key, and its documentation', async () => {
    const { page, faults } = await explore();
    const nagad = page.locator('.methods li', { hasText: 'Nagad' }).first();
    for (const turn of [1, 2]) {
      await nagad.getByRole('button', { name: 'Create', exact: true }).click();
      await page
        .locator('.graphiql-tab', { hasText: 'CreateNagad' })
        .nth(turn - 1)
        .waitFor();
      await shows(page, 'CreateNagad');
      await run(page);
      await answered(page, 'ProvideCodeAction');
      await answered(page, /"replayed":\sfalse/);
    }
    await nagad.getByRole('button', { name: 'Confirm', exact: true }).click();
    await shows(page, 'ConfirmNagad');
    await run(page);
    await answered(page, status('COMPLETED'));
    await nagad.getByRole('button', { name: 'docs' }).click();
    await page.locator('.graphiql-doc-explorer', { hasText: 'A payment by Nagad' }).waitFor();
    expect(faults).toEqual([]);
  });

  /** The width of a query's editor in pixels, its tools left out. */
  const editorWidth = async (page: Page): Promise<number> =>
    (await page.locator('.graphiql-query-editor > .graphiql-editor').boundingBox())?.width ?? 0;

  test.each([
    [1280, 500],
    [1440, 580],
  ])('fits a window of %i pixels and gives the operation %i of them or more', async (width, least) => {
    const { page } = await explore(url, width);
    expect(await overhang(page)).toBe(0);
    expect(await editorWidth(page)).toBeGreaterThanOrEqual(least);
  });

  test('runs an operation from the list on a telephone, one part below the other', async () => {
    const { page, faults } = await explore(url, 390);
    expect(await overhang(page)).toBe(0);
    expect(await editorWidth(page)).toBeGreaterThanOrEqual(350);
    await page.getByRole('button', { name: 'Show Ready operations' }).click();
    await picture(page, 'explorer-narrow-list');
    await page.locator('.tour').getByRole('button', { name: 'Create UPI' }).click();
    await shows(page, 'CreateUpi');
    await run(page);
    await answered(page, /"replayed":\sfalse/);
    await picture(page, 'explorer-narrow');
    expect(await overhang(page)).toBe(0);
    const [editor, answer] = await Promise.all(
      ['.graphiql-query-editor', '.result-window'].map((part) => page.locator(part).boundingBox()),
    );
    expect(answer?.y).toBeGreaterThanOrEqual((editor?.y ?? Infinity) + (editor?.height ?? 0));
    expect(answer?.height).toBeGreaterThan(200);
    expect(faults).toEqual([]);
  });

  test('shows a tab that opens behind the edge of the tab bar', async () => {
    const { page } = await explore(url, 1280);
    for (const title of ['What was created here', 'Create UPI'])
      await page.locator('.tour').getByRole('button', { name: title }).click();
    await shows(page, 'CreateUpi');
    const isInside = (): Promise<boolean> =>
      page.evaluate(`(() => {
        const [bar, tab] = ['.graphiql-tabs', '.graphiql-tab-active'].map((one) =>
          document.querySelector(one).getBoundingClientRect());
        return tab.left >= bar.left - 1 && tab.right <= bar.right + 1;
      })()`);
    expect(await until(isInside, (inside) => inside)).toBe(true);
  });

  describe('Where callers must say who they are', () => {
    let guarded: string;

    beforeAll(async () => {
      const ownSandbox = await testSandbox();
      guarded = (await testGateway(ownSandbox.url, { inSandbox: true })).gateway.url;
    });

    test('a key given once serves every tab and the socket, and is kept nowhere', async () => {
      const { page } = await explore(guarded);
      await run(page);
      await answered(page, 'UNAUTHENTICATED');
      await page.getByLabel('Key or token').fill(CLIENT_KEY);
      await page.getByRole('button', { name: 'Use', exact: true }).click();
      // With the key comes the schema, and with it the documentation.
      await page.locator('.methods').first().getByRole('button', { name: 'docs' }).first().waitFor();
      await run(page);
      await answered(page, status('PENDING'));
      await runTab(page, 'WatchPayment', status('PENDING'));
      expect(await stored(page)).not.toContain(CLIENT_KEY);
      await page.reload();
      await shows(page, 'CreateRedirect');
      expect(await page.getByLabel('Key or token').inputValue()).toBe('');
    });

    test('a header of one tab serves that tab, and neither it nor a card number is kept', async () => {
      const { page } = await explore(guarded);
      const card = page.locator('.methods li', { hasText: 'Bank card' }).first();
      await card.getByRole('button', { name: 'Create', exact: true }).click();
      await shows(page, 'CreateCard');
      await page.getByRole('button', { name: 'Headers', exact: true }).click();
      const headers = page.locator('section[aria-label="Headers"] .graphiql-editor:visible');
      await headers.click();
      await page.keyboard.insertText(`{"Authorization": "Bearer ${CLIENT_KEY}"}`);
      await headers.locator('.view-lines', { hasText: CLIENT_KEY }).waitFor();
      await run(page);
      await answered(page, /"status":\s"(PROCESSING|PENDING)"/);
      await page.getByRole('button', { name: 'Show History' }).click();
      await page.locator('.graphiql-history-item', { hasText: 'CreateCard' }).first().waitFor();
      const kept = await stored(page);
      expect(kept).not.toContain(CLIENT_KEY);
      expect(kept).not.toMatch(/\d{12}/);
    });
  });
});
