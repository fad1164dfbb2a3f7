import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { SANDBOX_CREDENTIALS } from '../../src/config';
import type { Gateway } from '../../src/app/gateway';
import { STARTER_DOCUMENT, STARTER_VARIABLES } from '../../src/http/server/starter-document';
import type { Sandbox } from '../../src/sandbox/server';
import { startOpenGateway } from '../http/support/open-gateway';
import { TOP } from '../docs/support/markdown';
import { CLIENT_KEY } from '../support/credentials';
import { until } from '../support/latch';
import { bundled } from '../subscriptions/support/doc-samples';
import { CHANNEL, TestClient, closeAfterTests, testSandbox, testService } from '../support/gateway';
import { post } from '../support/raw';
import { describeInBrowser, type Opened, type TestBrowser } from './chromium';
import { Shop } from './shop';

const WITH_TOKEN = ['apollo-client', 'urql', 'graphql-sse', 'eventsource'];
/** The sample that runs in browsers only and sends no token. */
const WITHOUT_TOKEN = 'browser';

describeInBrowser('In a browser,', (browser) => {
  let shop: Shop;
  let open: Gateway;
  let openSandbox: Sandbox;
  /** The origin of a shop with these pages, by their paths. */
  let shopOrigin: string;
  const pages = new Map([['/token', CLIENT_KEY]]);
  let settings: Record<string, string>;

  beforeAll(async () => {
    const headers = { 'content-type': 'text/html' };
    const server = await testService(({ path: at }) => ({ status: 200, body: pages.get(at) ?? '', headers }));
    shopOrigin = new URL(server.url).origin;
    settings = { CORS_ORIGINS: shopOrigin };
    openSandbox = await testSandbox({ credentials: SANDBOX_CREDENTIALS });
    open = closeAfterTests(await startOpenGateway(openSandbox.url, settings));
    shop = await Shop.open({ servesControlPlane: true }, settings);
  });

  describe('the hosted payment page', () => {
    afterEach(() => browser.closePages());

    test.each([
      ['Pay 10.00 EUR', { status: 'COMPLETED', error: null, amount: { value: '10.00', received: null } }],
      ['Decline', { status: 'FAILED', error: { code: 'DECLINED_GENERIC' } }],
      ['Pay less: 5.00 EUR', { status: 'MISPAID', amount: { value: '10.00', received: '5.00' } }],
    ])(
      'returns to the shop after "%s" without JavaScript, and links to the shop when it is opened again',
      async (button, outcome) => {
        const { transactionId, redirectUrl } = await shop.sell();
        const { page, problems } = await browser.open({ javaScriptEnabled: false });
        await page.goto(redirectUrl);
        await page.getByRole('button', { name: button, exact: true }).click();
        await page.waitForURL(shop.returnUrl);
        expect(await shop.lookUp(transactionId)).toMatchObject(outcome);
        await page.goto(redirectUrl);
        expect(await page.getByRole('button').count()).toBe(0);
        await page.getByRole('link').click();
        await page.waitForURL(shop.returnUrl);
        expect(problems).toEqual([]);
      },
    );

    test('shows amount, method, channel and order, and lets the payer pay by keyboard', async () => {
      const { transactionId, redirectUrl } = await shop.sell({ externalId: 'order 1', returnUrl: undefined });
      const { page, problems } = await browser.open();
      await page.goto(redirectUrl);
      const text = await page.locator('main').innerText();
      for (const shown of ['10.00 EUR', 'card', CHANNEL, 'order 1']) expect(text).toContain(shown);
      await page.keyboard.press('Tab');
      await page.keyboard.press('Enter');
      // Without a return URL the page itself shows the result.
      await page.getByRole('button').first().waitFor({ state: 'detached' });
      expect(page.url()).toBe(redirectUrl);
      expect(await shop.lookUp(transactionId)).toMatchObject({ status: 'COMPLETED' });
      expect(problems).toEqual([]);
    });
  });

  describe('the console of the sandbox', () => {
    /** Matches problems of requests that were aborted because the page was left. */
    const ABORTED = /\/_sandbox\/(events)? net::ERR_ABORTED$/;
    const errorsOf = ({ problems }: Opened) => problems.filter((fault) => !ABORTED.test(fault));

    afterEach(async () => {
      await browser.closePages();
      shop.sandbox.controlPlane.reset();
    });

    /** Waits until the console shows this state of its connection, such as `Live.` */
    const shows = (page: Page, state: string) =>
      page.getByRole('status').getByText(state, { exact: true }).waitFor();

    const openConsole = async (options: Parameters<TestBrowser['open']>[0] = {}, at = shop) => {
      const opened = await browser.open(options);
      await opened.page.goto(`${at.sandbox.url}_sandbox/`);
      return opened;
    };
    const press = async (page: Page, name: string, within: Pick<Page, 'getByRole'> = page) => {
      await within.getByRole('button', { name, exact: true }).click();
      await page.waitForURL(`${shop.sandbox.url}_sandbox/`);
    };
    const rowOf = (page: Page, transactionId: string, table = 'transactions') =>
      page.locator(`#${table}`).getByRole('row').filter({ hasText: transactionId });

    test('settles, declines or underpays only the payment whose button is pressed', async () => {
      const other = await shop.sell();
      const opened = await openConsole();
      for (const [button, outcome] of [
        ['settle', { status: 'COMPLETED' }],
        ['decline', { status: 'FAILED', error: { code: 'DECLINED_GENERIC' } }],
        ['underpay', { status: 'MISPAID', amount: { value: '10.00', received: '5.00' } }],
      ] as const) {
        const { transactionId } = await shop.sell();
        const row = rowOf(opened.page, transactionId);
        await press(opened.page, button, row);
        expect(await row.getByRole('button').count()).toBe(0);
        expect(await shop.lookUp(transactionId)).toMatchObject(outcome);
      }
      expect(await shop.lookUp(other.transactionId)).toMatchObject({ status: 'PENDING' });
      expect(errorsOf(opened)).toEqual([]);
    });

    test('advances the clock, injects a fault and resets the sandbox', async () => {
      const { transactionId } = await shop.sell({ amount: { currency: 'EUR', value: '10.51' } });
      const opened = await openConsole();
      const { page } = opened;
      await press(page, 'Advance 5 s');
      expect(await shop.lookUp(transactionId)).toMatchObject({ status: 'FAILED' });
      await page.getByLabel('Operation').selectOption('create');
      await page.getByLabel('Fault').selectOption('status');
      await page.getByLabel('HTTP status').fill('422');
      await press(page, 'Inject');
      expect(shop.sandbox.controlPlane.faults()).toHaveLength(1);
      await expect(shop.sell()).rejects.toThrow('"httpStatus":422');
      await shop.sell();
      await press(page, 'Remove transactions and faults');
      expect(await rowOf(page, transactionId).count()).toBe(0);
      expect(await shop.lookUp(transactionId)).toBeNull();
      expect(errorsOf(opened)).toEqual([]);
    });

    test('shows changes of payments, faults and clock without a reload', async () => {
      const opened = await openConsole();
      const { page } = opened;
      await shows(page, 'Live.');
      await page.evaluate('globalThis.loadedOnce = true');
      const { transactionId } = await shop.sell();
      const row = rowOf(page, transactionId);
      await row.getByText('pending').waitFor();
      shop.sandbox.controlPlane.settle(transactionId);
      await row.getByText('completed').waitFor();
      const transitions = rowOf(page, transactionId, 'transitions').locator('.status');
      expect(await transitions.allInnerTexts()).toEqual(['pending', 'completed', '', 'pending']);
      shop.sandbox.controlPlane.inject({ operation: 'lookup', fault: 'cut_after', times: 2 });
      await page.getByText('cut_after for 2').waitFor();
      shop.sandbox.controlPlane.advance(60_000);
      await page.locator('#clock').getByText('1 min').waitFor();
      shop.sandbox.controlPlane.reset();
      await row.waitFor({ state: 'detached' });
      expect(await page.getByText('cut_after for 2').count()).toBe(0);
      expect(await page.evaluate('globalThis.loadedOnce')).toBe(true);
      expect(errorsOf(opened)).toEqual([]);
    });

    test('reconnects when the sandbox is restarted, and keeps the values typed into its forms', async () => {
      const own = await Shop.open({ servesControlPlane: true });
      const before = await own.sell();
      const { page } = await openConsole({}, own);
      await shows(page, 'Live.');
      await page.getByLabel('Delay in ms').fill('77');
      await own.sandbox.close();
      await shows(page, 'Not live: reconnecting.');
      await testSandbox({ servesControlPlane: true, port: Number(new URL(own.sandbox.url).port) });
      await shows(page, 'Live.');
      expect(await rowOf(page, before.transactionId).count()).toBe(0);
      const after = await own.sell();
      await rowOf(page, after.transactionId).waitFor();
      expect(await page.getByLabel('Delay in ms').inputValue()).toBe('77');
    });

    test('shows HTML in an external id as text', async () => {
      const hostile = '<img src=x onerror=alert(1)>';
      const { transactionId } = await shop.sell({ externalId: hostile });
      const opened = await openConsole();
      await shows(opened.page, 'Live.');
      expect(await rowOf(opened.page, transactionId).innerText()).toContain(hostile);
      expect(await opened.page.locator('img').count()).toBe(0);
      expect(errorsOf(opened)).toEqual([]);
    });
  });

  describe('the landing page', () => {
    afterEach(() => browser.closePages());

    const CDN = /^https:\/\/([\w-]+\.)*(apollographql|googleapis|gstatic)\.com\//;
    /** Replaces the script of Apollo Sandbox and records its options. */
    const RECORDER = 'window.EmbeddedSandbox = class { constructor(given) { window.given = given; } };';

    test('starts Apollo Sandbox with a document of example operations that run without errors', async () => {
      const { page, problems } = await browser.open();
      await page.route(CDN, (route) =>
        route.request().resourceType() === 'script'
          ? route.fulfill({ contentType: 'text/javascript', body: RECORDER })
          : route.fulfill({ body: '' }),
      );
      await page.goto(`${open.url}/graphql`);
      expect(await page.evaluate('window.given')).toMatchObject({
        initialEndpoint: `${open.url}/graphql`,
        initialState: { document: STARTER_DOCUMENT, variables: STARTER_VARIABLES },
      });
      const amount = { currency: 'EUR', value: '10.00' };
      for (const [operationName, data] of [
        ['CreatePayment', { createPayment: { payment: { status: 'PENDING', amount } } }],
        ['Payment', { payment: { method: 'CARD', status: 'PENDING' } }],
      ] as const) {
        const body = { query: STARTER_DOCUMENT, variables: STARTER_VARIABLES, operationName };
        expect(await post(`${open.url}/graphql`, JSON.stringify(body))).toMatchObject({ data });
      }
      expect(problems).toEqual([]);
    });

    test.each([true, false])(
      'links to the explorer of the gateway when the CDN of Apollo Sandbox cannot be reached (JavaScript: %s)',
      async (javaScriptEnabled) => {
        const { page, problems } = await browser.open({ javaScriptEnabled });
        await page.route(CDN, (route) => route.abort());
        await page.goto(`${open.url}/graphql`);
        await page.locator('.fallback').waitFor();
        await page.getByRole('link', { name: 'explorer' }).click();
        await page.waitForURL(`${open.url}/explorer`, { waitUntil: 'commit' });
        const known = [CDN, /net::ERR_/, /EmbeddedSandbox is not a constructor/];
        expect(problems.filter((fault) => !known.some((pattern) => pattern.test(fault)))).toEqual([]);
      },
    );
  });

  describe('the explorer', () => {
    const REPORT_VIOLATIONS = `document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      console.error('policy: ' + violatedDirective + ' ' + blockedURI));`;

    async function shows(page: Page, name: string): Promise<void> {
      await page.locator('.graphiql-tab[aria-selected="true"]', { hasText: name }).waitFor();
      await page.locator('.graphiql-query-editor .view-lines', { hasText: `${name}(` }).waitFor();
    }

    const run = (page: Page): Promise<void> => page.getByRole('button', { name: /^Execute query/ }).click();

    async function responded(page: Page, text: string | RegExp): Promise<void> {
      // The editor shows spaces as no-break spaces.
      const shown = async () =>
        (await page.locator('.result-window .view-lines').innerText()).replaceAll('\u00a0', ' ');
      await until(shown, (response) => RegExp(text).test(response));
    }

    /** Selects a tab, runs its operation, and waits until the response contains `text`. */
    async function runTab(page: Page, name: string, text: string | RegExp): Promise<void> {
      await page.locator('.graphiql-tab-button', { hasText: name }).last().click();
      await shows(page, name);
      await run(page);
      await responded(page, text);
    }

    const status = (word: string): RegExp => new RegExp(`"status":\\s"${word}"`);

    async function explore(base: string): Promise<Opened & { requested: string[] }> {
      const opened = await browser.open({ viewport: { width: 1440, height: 900 } });
      const { page } = opened;
      const requested: string[] = [];
      page.on('request', (request) => requested.push(request.url()));
      page.on('websocket', (socket) => requested.push(socket.url()));
      await page.addInitScript(REPORT_VIOLATIONS);
      await page.goto(`${base}/explorer`);
      await shows(page, 'CreateRedirect');
      return { ...opened, requested };
    }

    describe('without credentials', () => {
      let opened: Awaited<ReturnType<typeof explore>>;

      beforeAll(async () => {
        opened = await explore(open.url);
      });
      afterEach(() => expect(opened.problems).toEqual([]));
      afterAll(() => browser.closePages());

      test('runs an operation and shows status changes of its payment live, with requests to the gateway only', async () => {
        const { page, requested } = opened;
        await run(page);
        await responded(page, status('PENDING'));
        const [{ transactionId = '' } = {}] = openSandbox.controlPlane.transactions(1);
        await page.evaluate('globalThis.isSamePage = true');
        await runTab(page, 'WatchPayment', transactionId.slice(0, 8));
        await responded(page, status('PENDING'));
        openSandbox.controlPlane.settle(transactionId);
        await responded(page, status('COMPLETED'));
        // The subscription has ended: the button shows "execute" again.
        await page.getByRole('button', { name: /^Execute query/ }).waitFor();
        expect(await page.evaluate('globalThis.isSamePage')).toBe(true);

        await until(() => page.workers().length >= 3);
        const workers = page.workers().map((worker) => worker.url());
        const urls = [...requested, ...workers].filter((url) => !url.startsWith('data:'));
        const { host } = new URL(open.url);
        expect(urls.filter((url) => new URL(url).host !== host)).toEqual([]);
        const sockets = urls.filter((url) => url.startsWith('ws'));
        expect(sockets).toEqual([`${open.url.replace('http', 'ws')}/graphql`]);
      });

      test('names the create that has to run before a confirm, and inserts the id that this create returned', async () => {
        const { page } = opened;
        await runTab(page, 'ConfirmUpi', 'CreateUpi');
        expect(await page.locator('.result-window').innerText()).not.toContain('stack');
        await runTab(page, 'CreateUpi', 'ProvideUtrAction');
        await runTab(page, 'ConfirmUpi', status('COMPLETED'));
      });

      test('opens each create in a new tab with a new idempotency key, and opens the documentation of its method', async () => {
        const { page } = opened;
        const nagad = page.locator('.methods li', { hasText: 'Nagad' }).first();
        for (const turn of [0, 1]) {
          await nagad.getByRole('button', { name: 'Create', exact: true }).click();
          await page.locator('.graphiql-tab', { hasText: 'CreateNagad' }).nth(turn).waitFor();
          await shows(page, 'CreateNagad');
          await run(page);
          await responded(page, 'ProvideCodeAction');
          await responded(page, /"replayed":\sfalse/);
        }
        await nagad.getByRole('button', { name: 'docs' }).click();
        await page.locator('.graphiql-doc-explorer', { hasText: 'Nagad' }).waitFor();
      });
    });

    test('sends a header only from the tab in which it was typed, sends the client key from all tabs, and stores neither', async () => {
      const { page } = await explore(shop.gateway.gateway.url);
      const stored = (): Promise<string> =>
        page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])');

      const card = page.locator('.methods li', { hasText: 'Bank card' }).first();
      await card.getByRole('button', { name: 'Create', exact: true }).click();
      await shows(page, 'CreateCard');
      await page.getByRole('button', { name: 'Headers', exact: true }).click();
      const headers = page.locator('section[aria-label="Headers"] .graphiql-editor:visible');
      await headers.click();
      await page.keyboard.insertText(`{"Authorization": "Bearer ${CLIENT_KEY}"}`);
      await headers.locator('.view-lines', { hasText: CLIENT_KEY }).waitFor();
      await run(page);
      await responded(page, /"status":\s"(PROCESSING|PENDING)"/);
      await page.getByRole('button', { name: 'Show History' }).click();
      await page.locator('.graphiql-history-item', { hasText: 'CreateCard' }).first().waitFor();
      expect(await stored()).not.toContain(CLIENT_KEY);
      expect(await stored()).not.toMatch(/\d{12}/);

      await page.getByRole('button', { name: 'Show Ready operations' }).click();
      await runTab(page, 'CreateRedirect', 'UNAUTHENTICATED');
      await page.getByLabel('Key or token').fill(CLIENT_KEY);
      await page.getByRole('button', { name: 'Use', exact: true }).click();
      // The documentation needs the schema, which is loaded with the key.
      await page.locator('.methods').first().getByRole('button', { name: 'docs' }).first().waitFor();
      await run(page);
      await responded(page, status('PENDING'));
      await runTab(page, 'WatchPayment', status('PENDING'));
      expect(await stored()).not.toContain(CLIENT_KEY);
      await page.reload();
      await shows(page, 'CreateRedirect');
      expect(await page.getByLabel('Key or token').inputValue()).toBe('');
      await browser.closePages();
    });
  });

  describe('the samples of docs/live-updates.md', () => {
    afterEach(() => browser.closePages());

    /** Matches the problem of an aborted request whose stream was complete. */
    const LEFT = /\/graphql\/stream\S* net::ERR_ABORTED$/;

    /** Returns the statuses that the page has shown, in order, without consecutive repetitions. */
    const states = async (page: Page): Promise<string[]> => {
      const shown: string[] = await page.evaluate('globalThis.states');
      return shown.filter((state, place) => state !== shown[place - 1]);
    };

    const showing = (page: Page, state: string) => until(async () => (await states(page)).includes(state));

    /** Opens a page that runs the sample for a payment. */
    async function openSample(
      sample: string,
      payment: { url: string; transactionId: string },
    ): Promise<Opened> {
      const { url, transactionId } = payment;
      const surroundings = { url, transactionId, channel: CHANNEL, tokenUrl: '/token' };
      const script = await bundled(sample, surroundings, 'browser');
      pages.set(
        `/${sample}`,
        `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
        <script>globalThis.states = []; globalThis.shown = ({ status }) => states.push(status);</script>
        <script type="module">${script}</script>`,
      );
      const opened = await browser.open();
      await opened.page.goto(`${shopOrigin}/${sample}`);
      return opened;
    }

    // Samples with a token use the gateway of the shop; the sample without a token uses the open gateway.
    test('show every status of a payment until it is completed', async () => {
      const [guarded, unguarded] = [await shop.sell(), await shop.sell({}, new TestClient(open))];
      const opened: Opened[] = [];
      for (const sample of WITH_TOKEN)
        opened.push(await openSample(sample, { ...guarded, url: shop.gateway.url }));
      opened.push(await openSample(WITHOUT_TOKEN, { ...unguarded, url: `${open.url}/graphql` }));
      for (const { page } of opened) await showing(page, 'PENDING');
      shop.sandbox.controlPlane.settle(guarded.transactionId);
      openSandbox.controlPlane.settle(unguarded.transactionId);
      for (const { page, problems } of opened) {
        await showing(page, 'COMPLETED');
        expect(await states(page)).toEqual(['PENDING', 'COMPLETED']);
        expect(problems.filter((fault) => !LEFT.test(fault))).toEqual([]);
      }
    });

    test('that need no token reconnect when the gateway is restarted', async () => {
      const start = (port = '0') =>
        startOpenGateway(openSandbox.url, { ...settings, PORT: port }).then(closeAfterTests);
      const first = await start();
      const { transactionId } = await shop.sell({}, new TestClient(first));
      const watched = { transactionId, url: `${first.url}/graphql` };
      const { page } = await openSample(WITHOUT_TOKEN, watched);
      await showing(page, 'PENDING');
      await first.close();
      openSandbox.controlPlane.settle(transactionId);
      await start(new URL(first.url).port);
      await showing(page, 'COMPLETED');
      expect(await states(page)).toEqual(['PENDING', 'COMPLETED']);
    });
  });

  test('changes() of the client kit yields the changes of a channel on a page of an allowed origin', async () => {
    const { page } = await browser.open();
    await page.goto(`${shopOrigin}/token`);
    const kit = JSON.stringify(readFileSync(path.join(TOP, 'client/index.mjs'), 'utf8'));
    const headers = { authorization: `Bearer ${CLIENT_KEY}` };
    const options = JSON.stringify({ url: shop.gateway.url, channel: CHANNEL, headers });
    await page.evaluate(`void (async () => {
      globalThis.taken = [];
      const code = new Blob([${kit}], { type: 'text/javascript' });
      const { changes } = await import(URL.createObjectURL(code));
      for await (const { transactionId, status } of changes(${options})) taken.push([transactionId, status]);
    })()`);
    const { transactionId } = await shop.sell();
    const taken = async (): Promise<string[]> => {
      const all: [string, string][] = await page.evaluate('globalThis.taken');
      return all.filter(([id]) => id === transactionId).map(([, status]) => status);
    };
    await until(taken, ({ length }) => length === 1);
    shop.sandbox.controlPlane.settle(transactionId);
    await shop.lookUp(transactionId);
    expect(await until(taken, ({ length }) => length === 2)).toEqual(['PENDING', 'COMPLETED']);
    await browser.closePages();
  });
});
