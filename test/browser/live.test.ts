import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { SANDBOX_CREDENTIALS } from '../../src/config';
import type { Sandbox } from '../../src/sandbox/server';
import { until } from '../exactly-once/support/gate';
import { startOpenGateway } from '../http/support/open-gateway';
import { bundled } from '../live/support/doc-samples';
import { AUTHORIZED } from '../support/credentials';
import { CHANNEL, closeAfterTests, testGateway, testSandbox } from '../support/gateway';
import { inBrowser, picture } from './chromium';
import { livePage, type LivePage } from './live-page';

jest.setTimeout(120_000);

/** The samples of docs/live-updates.md that send a token. */
const WITH_TOKEN = ['apollo-client', 'urql', 'graphql-sse', 'eventsource'];

const CREATE = `mutation ($input: CreatePaymentInput!) {
  createPayment(input: $input) {
    ... on PaymentSuccess { payment { ... on PaymentResource { transactionId redirectUrl } } }
    ... on UserError { message }
  }
}`;

/** A new payment, made at that gateway. */
async function sold(url: string): Promise<{ transactionId: string; redirectUrl: string }> {
  const input = {
    idempotencyKey: randomUUID(),
    channel: CHANNEL,
    amount: { currency: 'EUR', value: '10.00' },
    method: { redirect: 'CARD' },
  };
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...AUTHORIZED },
    body: JSON.stringify({ query: CREATE, variables: { input } }),
  });
  const { data } = (await response.json()) as {
    data: { createPayment: { payment: { transactionId: string; redirectUrl: string } } };
  };
  if (!data?.createPayment.payment) throw new Error(JSON.stringify(data));
  return data.createPayment.payment;
}

/** How a client leaves a stream that is complete. */
const LEFT = /\/graphql\/stream\S* net::ERR_ABORTED$/;

/** What the page has shown, in order; the same twice counts once. */
const states = async (page: Page): Promise<string[]> => {
  const shown: string[] = await page.evaluate('globalThis.states');
  return shown.filter((state, place) => state !== shown[place - 1]);
};

const showing = (page: Page, status: string): Promise<void> =>
  page.locator('output', { hasText: status }).waitFor({ timeout: 60_000 });

inBrowser('Live updates', (browser) => {
  let sandbox: Sandbox;
  let openSandbox: Sandbox;
  let shop: LivePage;
  let foreign: LivePage;

  beforeAll(async () => {
    const { apiKey, secretKey } = SANDBOX_CREDENTIALS;
    sandbox = await testSandbox();
    openSandbox = await testSandbox({ apiKey: apiKey.reveal(), secretKey: secretKey.reveal() });
    [shop, foreign] = [await livePage(), await livePage()];
  });

  const settings = () => ({ CORS_ORIGINS: shop.origin });

  /** A gateway that tells callers apart, whose pages are the shop's. */
  const guarded = async (env: Record<string, string> = {}) => {
    const { url, gateway } = await testGateway(sandbox.url, {
      inSandbox: true,
      env: { ...settings(), ...env },
    });
    return { url, gateway, sandbox };
  };
  /** One that is open to everybody on this machine. */
  const open = async (env: Record<string, string> = {}) => {
    const gateway = closeAfterTests(await startOpenGateway(openSandbox.url, { ...settings(), ...env }));
    return { url: `${gateway.url}/graphql`, gateway, sandbox: openSandbox };
  };

  /** Opens a page that runs a sample. */
  async function watching(sample: string, url: string, transactionId: string, at: LivePage = shop) {
    at.play(
      await bundled(sample, { url, channel: CHANNEL, transactionId, tokenUrl: at.tokenUrl }, 'browser'),
    );
    const opened = await browser.open();
    await opened.page.goto(at.url);
    return opened;
  }

  test.each([...WITH_TOKEN.map((sample) => [sample, guarded] as const), ['browser', open] as const])(
    'the sample %s: the payer presses Pay in one tab, the shop shows it in another',
    async (sample, gateway) => {
      const { url } = await gateway();
      const { transactionId, redirectUrl } = await sold(url);
      const { page, faults } = await watching(sample, url, transactionId);
      await showing(page, 'PENDING');
      const payer = await browser.open();
      await payer.page.goto(redirectUrl);
      await payer.page.getByRole('button', { name: 'Pay 10.00 EUR', exact: true }).click();
      await showing(page, 'COMPLETED');
      expect(await states(page)).toEqual(['PENDING', 'COMPLETED']);
      expect([...faults, ...payer.faults].filter((fault) => !LEFT.test(fault))).toEqual([]);
      await picture(page, `live-${sample}`);
    },
  );

  test.each([['apollo-client', guarded] as const, ['browser', open] as const])(
    'the sample %s: a page goes on by itself when its gateway is replaced, and shows the end',
    async (sample, gateway) => {
      const first = await gateway();
      const { transactionId } = await sold(first.url);
      const { page } = await watching(sample, first.url, transactionId);
      await showing(page, 'PENDING');
      await first.gateway.close();
      first.sandbox.control.settle(transactionId);
      await gateway({ PORT: new URL(first.url).port });
      await showing(page, 'COMPLETED');
      expect(await states(page)).toEqual(['PENDING', 'COMPLETED']);
    },
  );

  test.each([...WITH_TOKEN.map((sample) => [sample, guarded] as const), ['browser', open] as const])(
    'the sample %s: a page of a foreign origin is refused, and learns nothing',
    async (sample, gateway) => {
      const { url } = await gateway();
      const { transactionId } = await sold(url);
      const { page, faults } = await watching(sample, url, transactionId, foreign);
      await until(
        () => faults.join('\n'),
        (told) => /Unexpected response code: 403|blocked by CORS policy/.test(told),
      );
      expect(await states(page)).toEqual([]);
      await page.close();
    },
  );
});
