import path from 'node:path';
import type { Page, Request } from 'playwright-core';
import { PaymentDocument } from '@paygraph/client';
import { isUnionType, print } from 'graphql';
import { PUBLIC_CODES } from '../../src/http/public-codes';
import { gatewaySchema } from '../../src/resolvers';
import type { Sandbox } from '../../src/sandbox/server';
import { inBrowser, overhang, picture, tooFaint } from '../browser/chromium';
import { until } from '../exactly-once/support/gate';
import { SANDBOX_CREDENTIALS } from '../../src/config';
import { CHANNEL, temporaryDatabase, testSandbox, closeAfterTests } from '../support/gateway';
import { startOpenGateway } from '../http/support/open-gateway';
import { freePort } from '../support/free-port';
import { serveCheckout } from './support/checkout';

jest.setTimeout(120_000);

/** Longer than any wait: only a clock that is moved makes it pass. */
const HOUR_MS = 3_600_000;

/** What the page says that nobody was charged with; true of few outcomes. */
const CLAIM = /nothing (was|has been|is) (charged|paid)|not (been )?(charged|paid)\b/i;

/** What a create was sent with. */
const inputOf = (request: Request) =>
  (request.postDataJSON() as { variables: { input: { idempotencyKey: string } } }).variables.input;

inBrowser('The checkout', (browser) => {
  let sandbox: Sandbox;
  let url: string;
  let gatewayUrl: string;

  beforeAll(async () => {
    const { apiKey, secretKey } = SANDBOX_CREDENTIALS;
    sandbox = await testSandbox({ apiKey: apiKey.reveal(), secretKey: secretKey.reveal() });
    const port = await freePort();
    const gateway = closeAfterTests(
      await startOpenGateway(sandbox.url, {
        CORS_ORIGINS: `http://127.0.0.1:${port}`,
        SERVICE_TIMEOUT_MS: '120000',
      }),
    );
    gatewayUrl = `${gateway.url}/graphql`;
    ({ url } = await serveCheckout({ PORT: String(port), PAYGRAPH_URL: gateway.url }));
  });

  const pages: Page[] = [];
  afterEach(async () => {
    for (const page of pages.splice(0)) await page.context().close();
  });

  /** The page, opened in a browser window of its own, and the creates that it sends. */
  async function opened(address = url) {
    const { page, faults } = await browser.open();
    page.setDefaultTimeout(30_000);
    pages.push(page);
    const creates: Request[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.postData()?.includes('mutation CreatePayment'))
        creates.push(request);
    });
    await page.goto(address);
    return { page, faults, creates };
  }

  async function order(page: Page, way: string, amount: string, phone?: string): Promise<void> {
    await page.getByRole('radio', { name: way }).check();
    await page.getByLabel('Amount in').fill(amount);
    if (phone !== undefined) await page.getByLabel('Your phone number').fill(phone);
    await page.getByRole('button', { name: 'Pay', exact: true }).click();
  }

  const shows = (page: Page, text: string | RegExp): Promise<void> =>
    page.getByRole('status').getByText(text).waitFor();
  const alerts = (page: Page, text: string | RegExp): Promise<void> =>
    page.getByRole('alert').getByText(text).waitFor();
  const created = (): number => sandbox.control.counts().payment.created;
  const asked = (): number => sandbox.control.counts().payment.creates;
  /** Looks a payment up as another caller would. */
  const lookUp = (transactionId: string): Promise<Response> =>
    fetch(gatewayUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        query: print(PaymentDocument),
        variables: { channel: CHANNEL, transactionId },
      }),
    });
  /** The newest payment. */
  const newest = (): string => sandbox.control.transactions(1)[0]!.transactionId;

  test('card: the payer pays on the hosted page, comes back, and sees that it is paid', async () => {
    const { page, faults } = await opened();
    await picture(page, 'checkout-form');
    expect(await tooFaint(page)).toEqual([]);
    await order(page, 'Card', '10.00');
    await shows(page, '€10.00 to pay');
    await picture(page, 'checkout-redirect');
    await page.getByRole('link', { name: 'Go to the payment page' }).click();
    await page.getByRole('button', { name: 'Pay 10.00 EUR', exact: true }).click();
    await shows(page, '€10.00: paid. Thank you!');
    expect(page.url()).toBe(url);
    await picture(page, 'checkout-paid');
    expect(await tooFaint(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('QRIS: the page shows the code, and changes by itself when the money has arrived', async () => {
    const { page, faults } = await opened();
    await order(page, 'QRIS', '50000.00');
    const code = page.getByRole('img', { name: /QR code/ });
    await code.waitFor();
    await page.waitForFunction('document.querySelector("img").naturalWidth > 0');
    await picture(page, 'checkout-qr');
    await page.evaluate('globalThis.isTheSamePage = true');
    sandbox.control.settle(newest());
    await shows(page, /50,000\.00: paid\. Thank you!/);
    expect(await page.evaluate('globalThis.isTheSamePage')).toBe(true);
    expect(faults).toEqual([]);
  });

  test('UPI: a typo in the phone number is told at its field; then the UTR completes the payment', async () => {
    const { page, faults, creates } = await opened();
    await page.setViewportSize({ width: 360, height: 740 });
    await order(page, 'UPI', '499.00', '12');
    await alerts(page, 'Please look at what is marked');
    const phone = page.getByLabel('Your phone number');
    expect(await phone.getAttribute('aria-invalid')).toBe('true');
    const described = await phone.getAttribute('aria-describedby');
    expect(await page.locator(`[id="${described}"]`).textContent()).toMatch(/phone|digits|E\.164/i);
    await picture(page, 'checkout-typo');
    expect(await tooFaint(page)).toEqual([]);
    await phone.fill('+919876543210');
    await page.getByRole('button', { name: 'Pay', exact: true }).click();
    await page.getByText(/Pay to .*@/).waitFor();
    await picture(page, 'checkout-upi');
    expect(await overhang(page)).toBe(0);
    // The sandbox refuses this one.
    await page.getByLabel(/^UTR/).fill('000000');
    await page.getByRole('button', { name: 'I have paid' }).click();
    await alerts(page, 'Our payment partner did not accept this');
    expect(await page.getByRole('alert').textContent()).not.toMatch(CLAIM);
    await page.getByLabel(/^UTR/).fill('412345678901');
    await page.getByRole('button', { name: 'I have paid' }).click();
    await shows(page, '₹499.00: paid. Thank you!');
    expect(new Set(creates.map((request) => inputOf(request).idempotencyKey)).size).toBe(1);
    expect(faults).toEqual([]);
  });

  test('UPI: a payer whose confirm cannot be passed on is told to send it again, not that nothing was charged', async () => {
    const { page } = await opened();
    await order(page, 'UPI', '77.00', '+919876543210');
    await page.getByLabel(/^UTR/).fill('412345678901');
    sandbox.control.inject({ operation: 'confirm', fault: 'status', status: 429, times: 1 });
    await page.getByRole('button', { name: 'I have paid' }).click();
    await alerts(page, /Please send the same number again/);
    expect(await page.getByRole('alert').textContent()).not.toMatch(CLAIM);
    await page.getByRole('button', { name: 'I have paid' }).click();
    await shows(page, '₹77.00: paid. Thank you!');
  });

  test('UPI: while lookups fail a payer who has paid is not told that nothing was charged', async () => {
    const { page } = await opened();
    await order(page, 'UPI', '78.00', '+919876543210');
    // With this one the sandbox lets the payment wait for the provider.
    await page.getByLabel(/^UTR/).fill('111111');
    await page.getByRole('button', { name: 'I have paid' }).click();
    await shows(page, '₹78.00: being checked');
    sandbox.control.inject({ operation: 'lookup', fault: 'status', status: 429, times: 20 });
    sandbox.control.settle(newest());
    await page.reload();
    await alerts(page, /We cannot see right now where your payment stands/);
    expect(await page.getByRole('alert').textContent()).not.toMatch(CLAIM);
    await picture(page, 'checkout-lookups-fail');
    while (sandbox.control.faults().length > 0) await lookUp(newest());
    await page.getByRole('button', { name: 'Look again' }).click();
    await shows(page, '₹78.00: paid. Thank you!');
  });

  test('a decline says why, and another way is another order', async () => {
    const { page, creates } = await opened();
    await order(page, 'Card', '25.51');
    // It ends by itself.
    await shows(page, 'There is not enough money on the account.');
    await picture(page, 'checkout-declined');
    await page.getByRole('button', { name: 'Try another way' }).click();
    await order(page, 'QRIS', '25.00');
    await shows(page, /25\.00 to pay/);
    expect(new Set(creates.map((request) => inputOf(request).idempotencyKey)).size).toBe(2);
  });

  test('a reload in the middle of a create sends the same order, and there is one payment', async () => {
    const { page, creates } = await opened();
    const [before, arrived] = [created(), asked()];
    sandbox.control.inject({ operation: 'create', fault: 'delay', ms: HOUR_MS, times: 1 });
    await order(page, 'Card', '11.00');
    await until(asked, (count) => count > arrived);
    await page.reload();
    await alerts(page, 'Your order is being worked on');
    sandbox.control.advance(HOUR_MS);
    await shows(page, '€11.00 to pay');
    expect(created()).toBe(before + 1);
    const inputs = creates.map(inputOf);
    expect(inputs.length).toBeGreaterThan(1);
    for (const input of inputs) expect(input).toEqual(inputs[0]);
  });

  test('while the service cannot be reached it says so, and tries again with the same key', async () => {
    const { page, creates } = await opened();
    const before = created();
    sandbox.control.inject({ operation: 'create', fault: 'status', status: 429, times: 1 });
    await order(page, 'Card', '12.00');
    await alerts(page, 'This does not work right now.');
    expect(await page.getByLabel('Amount in').isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Try again' }).click();
    await shows(page, '€12.00 to pay');
    expect(created()).toBe(before + 1);
    const [first, second] = creates.map(inputOf);
    expect(second).toEqual(first);
  });

  test('while the outcome is unknown it says so, asks by itself, and there is one payment', async () => {
    const { page } = await opened();
    const before = created();
    // Its answer is lost, and so is that of who looks for it; with these cents others miss it for a while.
    sandbox.control.inject({ operation: 'create', fault: 'cut_after', times: 1 });
    sandbox.control.inject({ operation: 'lookup', fault: 'delay', ms: HOUR_MS, times: 1 });
    await order(page, 'Card', '13.83');
    await alerts(page, /We do not know yet .* never charged twice/);
    await picture(page, 'checkout-unknown');
    sandbox.control.advance(HOUR_MS);
    await shows(page, '€13.83 to pay');
    expect(created()).toBe(before + 1);
  });

  test('a payer who may have paid is not asked for money while the status is unknown', async () => {
    const { page } = await opened();
    // With these cents the service shows a status that the gateway does not know.
    await order(page, 'Card', '25.85');
    await shows(page, /do not pay again/);
    expect(await page.getByRole('status').textContent()).not.toMatch(/to pay/);
    await picture(page, 'checkout-unknown-status');
  });

  test('UPI: a payer whose payment fails after the confirm is told to write before paying again', async () => {
    const { page } = await opened();
    await order(page, 'UPI', '499.51', '+919876543210');
    await page.getByLabel(/^UTR/).fill('412345678901');
    await page.getByRole('button', { name: 'I have paid' }).click();
    await shows(page, /write to us before you pay again/);
  });

  test('while the gateway cannot be reached the payer is told not to pay again, also after a reload', async () => {
    const [port, gatewayPort] = [await freePort(), await freePort()];
    const start = () =>
      startOpenGateway(sandbox.url, {
        PORT: String(gatewayPort),
        CORS_ORIGINS: `http://127.0.0.1:${port}`,
      });
    const gateway = await start();
    const shop = await serveCheckout({ PORT: String(port), PAYGRAPH_URL: gateway.url });
    const { page } = await opened(shop.url);
    await order(page, 'UPI', '25.00', '+919876543210');
    await shows(page, '₹25.00 to pay');
    expect(await page.getByRole('alert').count()).toBe(0);
    await gateway.close();
    await alerts(page, /do not pay again/);
    await picture(page, 'checkout-outage');
    expect(await tooFaint(page)).toEqual([]);
    await page.reload();
    await alerts(page, /do not pay again/);
    closeAfterTests(await start());
    await shows(page, '₹25.00 to pay');
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('where no answer comes the payer may try again, and there is one payment', async () => {
    const { page } = await opened();
    const before = created();
    // The gateway has done it, but its answer does not arrive.
    await page.route('**/graphql', async (route) => {
      await route.fetch();
      await route.abort('connectionreset');
      await page.unroute('**/graphql');
    });
    await order(page, 'Card', '14.00');
    await alerts(page, 'There was no answer.');
    await page.getByRole('button', { name: 'Try again' }).click();
    await shows(page, '€14.00 to pay');
    expect(created()).toBe(before + 1);
  });
});

test('where no gateway is named it starts one that lets its page in', async () => {
  const database = temporaryDatabase();
  const folder = path.dirname(database.slice('file:'.length));
  const { url, gateway } = await serveCheckout({
    PORT: '0',
    DATABASE_URL: database,
    AUDIT_LOG_FILE: path.join(folder, 'audit.log'),
  });
  const page = await fetch(url);
  expect(page.headers.get('content-security-policy')).toContain(`connect-src ${gateway} `);
  const { origin } = new URL(url);
  const admitted = await fetch(`${gateway}/graphql`, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'POST' },
  });
  expect(admitted.headers.get('access-control-allow-origin')).toBe(origin);
});

describe('The texts of the checkout', () => {
  interface Texts {
    troubleText(trouble: object): string;
    declineText(error: { reason: string | null }): string;
  }
  // By its own TypeScript settings, which are not those of the tests.
  const { troubleText, declineText } = jest.requireActual<Texts>('../../examples/checkout/src/texts.ts');

  const schema = gatewaySchema();
  const failuresOf = (union: string): string[] => {
    const type = schema.getType(union);
    const members = isUnionType(type) ? type.getTypes().map(({ name }) => name) : [];
    return members.filter((name) => name !== 'PaymentSuccess');
  };
  const OPERATIONS = { create: 'CreatePaymentResult', confirm: 'ConfirmPaymentResult', watch: '' };
  const thrownWith = (code: string) => ({
    errors: [{ message: 'm', extensions: { code, retryable: false, requestId: 'request-1' } }],
  });

  /** Every operation with everything that can come of it: a failure of its result, a code, no answer, something new. */
  const PAIRS = Object.entries(OPERATIONS).flatMap(([operation, union]) => [
    ...failuresOf(union).map((name) => [operation, name, { failure: { __typename: name } }] as const),
    ...PUBLIC_CODES.map((code) => [operation, code, { thrown: thrownWith(code) }] as const),
    [operation, 'no answer', { thrown: new TypeError('fetch failed') }] as const,
    [operation, 'a code of a newer gateway', { thrown: thrownWith('NEW') }] as const,
  ]);
  /** Where the gateway says that nothing was created (docs/results.md). */
  const NOTHING_CREATED = ['create InvalidInputError', 'create RejectedByServiceError'];

  test.each(PAIRS)('say what is true for %s and %s', (operation, outcome, trouble) => {
    const text = troubleText({ operation, ...trouble });
    expect(text).toEqual(expect.any(String));
    expect(CLAIM.test(text)).toBe(NOTHING_CREATED.includes(`${operation} ${outcome}`));
  });

  test('differ between the operations for the same outcome', () => {
    const byOutcome = Map.groupBy(PAIRS, ([, outcome]) => outcome);
    for (const pairs of byOutcome.values()) {
      const texts = pairs.map(([operation, , trouble]) => troubleText({ operation, ...trouble }));
      expect(new Set(texts).size).toBe(texts.length);
    }
  });

  test('have something for a failure of a newer gateway', () => {
    for (const operation of ['create', 'confirm'])
      expect(troubleText({ operation, failure: { __typename: 'NewError' } })).not.toMatch(CLAIM);
  });

  test('say no more of suspected fraud than of any decline', () => {
    const plain = declineText({ reason: null });
    expect(declineText({ reason: 'SUSPECTED_FRAUD' })).toBe(plain);
    expect(declineText({ reason: 'NEW' })).toBe(plain);
    expect(declineText({ reason: 'INSUFFICIENT_FUNDS' })).not.toBe(plain);
  });
});
