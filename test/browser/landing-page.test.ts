import { pino } from 'pino';
import { readConfig } from '../../src/config';
import { startGateway } from '../../src/gateway';
import { STARTER_DOCUMENT, STARTER_VARIABLES } from '../../src/http/starter-document';
import { startEmbeddedSandbox } from '../../src/sandbox/embedded';
import { closeAfterTests, openPatiently, testGateway, testSandbox } from '../support/gateway';
import { inBrowser, picture } from './chromium';

/** A gateway as `npm start` makes it where nothing is configured, for a busy machine. */
async function startedUnconfigured(): Promise<string> {
  const log = pino({ level: 'silent' });
  const config = readConfig({ PORT: '0', SANDBOX_PORT: '0' });
  if (!config.sandbox) throw new Error('Without settings there is a sandbox.');
  const sandbox = closeAfterTests(await startEmbeddedSandbox(config.sandbox, config.service, log));
  const service = { ...config.service, baseUrl: sandbox.url };
  const start = startGateway({ ...config, service }, log, undefined, { open: openPatiently });
  const gateway = closeAfterTests(await start);
  return `${gateway.url}/graphql`;
}

/** Where the explorer's own script comes from: beyond the reach of these tests. */
const CDN = /^https:\/\/([\w-]+\.)*(apollographql|googleapis|gstatic)\.com\//;

/** Stands in the place of the explorer's script and writes down what it is handed. */
const RECORDER = 'window.EmbeddedSandbox = class { constructor(given) { window.given = given; } };';

interface Given {
  initialEndpoint: string;
  initialState: { document: string; variables: { input: object } };
}

inBrowser('The landing page', (browser) => {
  let url: string;

  beforeAll(async () => {
    url = await startedUnconfigured();
  });

  test('a browser that opens /graphql gets the explorer, with the starter document and this gateway in it', async () => {
    const { page, faults } = await browser.open();
    await page.route(CDN, (route) =>
      route.request().resourceType() === 'script'
        ? route.fulfill({ contentType: 'text/javascript', body: RECORDER })
        : route.fulfill({ body: '' }),
    );
    const answer = await page.goto(url);
    expect(answer?.headers()['content-type']).toContain('text/html');
    const given: Given = await page.evaluate('window.given');
    expect(given).toMatchObject({
      initialEndpoint: url,
      initialState: { document: STARTER_DOCUMENT, variables: STARTER_VARIABLES },
    });
    expect(faults).toEqual([]);
  });

  test('its starter document runs as it stands, from the page itself', async () => {
    const { page, faults } = await browser.open();
    await page.route(CDN, (route) => route.fulfill({ contentType: 'text/javascript', body: RECORDER }));
    await page.goto(url);
    const answers = await page.evaluate(`(async () => {
      const { document: query, variables } = window.given.initialState;
      const ask = async (operationName) => {
        const body = JSON.stringify({ query, variables, operationName });
        const headers = { 'content-type': 'application/json' };
        return (await fetch(window.given.initialEndpoint, { method: 'POST', headers, body })).json();
      };
      return [await ask('CreatePayment'), await ask('Payment')];
    })()`);
    expect(answers).toMatchObject([
      {
        data: {
          createPayment: { payment: { status: 'PENDING', amount: { currency: 'EUR', value: '10.00' } } },
        },
      },
      { data: { payment: { method: 'CARD', status: 'PENDING' } } },
    ]);
    expect(faults).toEqual([]);
  });

  test.each([true, false])(
    'leads to the explorer of the gateway when nothing can be loaded from the internet, with scripts: %s',
    async (javaScriptEnabled) => {
      const { page } = await browser.open({ javaScriptEnabled });
      await page.route(CDN, (route) => route.abort());
      await page.goto(url);
      await page.getByRole('link', { name: 'explorer' }).click();
      await page.waitForURL(new URL('/explorer', url).href);
    },
  );

  test('/ names both pages and leads to them', async () => {
    const { page, faults } = await browser.open();
    await page.route(CDN, (route) => route.fulfill({ contentType: 'text/javascript', body: RECORDER }));
    for (const name of ['graphql', 'explorer']) {
      await page.goto(new URL('/', url).href);
      await page.getByRole('link', { name: `/${name}` }).click();
      await page.waitForURL(new URL(name, url).href);
      // Leaving a page aborts its pending requests.
      await page.waitForLoadState('networkidle');
    }
    expect(faults).toEqual([]);
    const { status, errors } = await fetch(new URL('/', url)).then(async (answer) => ({
      status: answer.status,
      ...((await answer.json()) as { errors: { message: string }[] }),
    }));
    expect(status).toBe(404);
    expect(errors[0]?.message).toMatch(/\/graphql.*\/explorer/);
  });

  test('nothing points to an explorer that is switched off', async () => {
    const sandbox = await testSandbox();
    const { gateway } = await testGateway(sandbox.url, { inSandbox: true, env: { EXPLORER: 'off' } });
    for (const path of ['/', '/graphql']) {
      const answer = await fetch(gateway.url + path, { headers: { accept: 'text/html' } });
      expect(await answer.text()).not.toMatch(/explorer"/i);
    }
  });

  test('where the explorer cannot be reached the page says so, and nothing else is wrong', async () => {
    const { page, faults } = await browser.open();
    await page.route(CDN, (route) => route.abort());
    await page.goto(url);
    await page.getByRole('heading').waitFor();
    expect(await page.locator('body').innerText()).toContain('you might be offline');
    await page
      .locator('.fallback')
      .evaluate('Promise.all(document.getAnimations().map((one) => one.finished)).then(() => 0)');
    await picture(page, 'landing-page-offline');
    const ofTheCdn = [
      CDN,
      /^Failed to load resource: net::ERR_FAILED/,
      /EmbeddedSandbox is not a constructor/,
    ];
    expect(faults.filter((fault) => !ofTheCdn.some((known) => known.test(fault)))).toEqual([]);
  });

  test('a program that asks without saying what it accepts gets no page', async () => {
    const answer = await fetch(url, { headers: { accept: 'application/json' } });
    expect(answer.headers.get('content-type')).toContain('application/json');
  });
});
