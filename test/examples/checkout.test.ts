import path from 'node:path';
import type { Page, Request } from 'playwright-core';
import type { Sandbox } from '../../src/sandbox/server';
import { inBrowser, overhang, picture, tooFaint } from '../browser/chromium';
import { until } from '../exactly-once/support/gate';
import { SANDBOX_CREDENTIALS } from '../../src/config';
import { temporaryDatabase, testSandbox, closeAfterTests } from '../support/gateway';
import { startOpenGateway } from '../http/support/open-gateway';
import { freePort } from '../support/free-port';
import { serveCheckout } from './support/checkout';

jest.setTimeout(120_000);

/** Longer than any wait: only a clock that is moved makes it pass. */
const HOUR_MS = 3_600_000;

/** What a create was sent with. */
const inputOf = (request: Request) =>
  (request.postDataJSON() as { variables: { input: { idempotencyKey: string } } }).variables.input;

inBrowser('The checkout', (browser) => {
  let sandbox: Sandbox;
  let url: string;

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
    ({ url } = await serveCheckout({ PORT: String(port), PAYGRAPH_URL: gateway.url }));
  });

  const pages: Page[] = [];
  afterEach(async () => {
    for (const page of pages.splice(0)) await page.context().close();
  });

  /** The page, opened in a browser window of its own, and the creates that it sends. */
  async function opened() {
    const { page, faults } = await browser.open();
    page.setDefaultTimeout(30_000);
    pages.push(page);
    const creates: Request[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.postData()?.includes('mutation CreatePayment'))
        creates.push(request);
    });
    await page.goto(url);
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
  /** The newest payment. */
  const newest = (): string => sandbox.control.transactions(1)[0]!.transactionId;

  test('card: the payer pays on the hosted page, comes back, and sees that it is paid', async () => {
    const { page, faults } = await opened();
    await picture(page, 'checkout-form');
    expect(await tooFaint(page)).toEqual([]);
    await order(page, 'Card', '10.00');
    await shows(page, '10.00 EUR to pay');
    await picture(page, 'checkout-redirect');
    await page.getByRole('link', { name: 'Go to the payment page' }).click();
    await page.getByRole('button', { name: 'Pay 10.00 EUR', exact: true }).click();
    await shows(page, '10.00 EUR: paid. Thank you!');
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
    await shows(page, '50000.00 IDR: paid. Thank you!');
    expect(await page.evaluate('globalThis.isTheSamePage')).toBe(true);
    expect(faults).toEqual([]);
  });

  test('UPI: a typo in the phone number is told at its field; then the UTR completes the payment', async () => {
    const { page, faults, creates } = await opened();
    await page.setViewportSize({ width: 360, height: 740 });
    await order(page, 'UPI', '499.00', '12');
    await alerts(page, 'Nothing was sent yet');
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
    await page.getByLabel(/^UTR/).fill('412345678901');
    await page.getByRole('button', { name: 'I have paid' }).click();
    await shows(page, '499.00 INR: paid. Thank you!');
    expect(new Set(creates.map((request) => inputOf(request).idempotencyKey)).size).toBe(1);
    expect(faults).toEqual([]);
  });

  test('a decline says why, and another way is another order', async () => {
    const { page, creates } = await opened();
    await order(page, 'Card', '25.51');
    // It ends by itself.
    await shows(page, 'There is not enough money on the account.');
    await picture(page, 'checkout-declined');
    await page.getByRole('button', { name: 'Try another way' }).click();
    await order(page, 'QRIS', '25.00');
    await shows(page, '25.00 IDR to pay');
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
    await shows(page, '11.00 EUR to pay');
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
    await alerts(page, 'Our payment partner cannot be reached right now');
    expect(await page.getByLabel('Amount in').isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Try again' }).click();
    await shows(page, '12.00 EUR to pay');
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
    await shows(page, '13.83 EUR to pay');
    expect(created()).toBe(before + 1);
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
    await shows(page, '14.00 EUR to pay');
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
