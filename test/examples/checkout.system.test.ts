import type { Page, Request } from 'playwright-core';
import { isUnionType } from 'graphql';
import { SANDBOX_CREDENTIALS } from '../../src/config';
import type { Gateway } from '../../src/app/gateway';
import { PUBLIC_ERROR_CODES } from '../../src/http/graphql/error-codes';
import { buildGatewaySchema } from '../../src/resolvers';
import type { Sandbox } from '../../src/sandbox/server';
import { describeInBrowser, lowContrastTexts } from '../browser/chromium';
import { startOpenGateway } from '../http/support/open-gateway';
import { freePort } from '../support/free-port';
import { until } from '../support/latch';
import { closeAfterTests, temporaryDatabase, testSandbox } from '../support/gateway';
import { serveCheckout } from './support';

/** Longer than any real wait: only advancing the sandbox's clock lets it pass. */
const HOUR_MS = 3_600_000;

/** A claim that nobody was charged, which only few outcomes prove. */
const CLAIM = /nothing (was|has been|is) (charged|paid)|not (been )?(charged|paid)\b/i;

interface Texts {
  CHECKED_TEXT: string;
  MONEY_TAKEN_TEXT: string;
  outageText(isKnown: boolean): string;
  troubleText(trouble: object): string;
  declineText(error: { reason: string | null }): string;
}
// Compiled with the example's TypeScript settings, which differ from those of the tests.
const { CHECKED_TEXT, MONEY_TAKEN_TEXT, outageText, troubleText, declineText } = jest.requireActual<Texts>(
  '../../examples/checkout/src/texts.ts',
);

const thrownWith = (code: string) => ({
  errors: [{ message: 'm', extensions: { code, retryable: false, requestId: 'request-1' } }],
});
const unavailable = (operation: string) =>
  troubleText({ operation, thrown: thrownWith('SERVICE_UNAVAILABLE') });
const failed = (operation: string, __typename: string) => troubleText({ operation, failure: { __typename } });

const inputOf = (request: Request) =>
  (request.postDataJSON() as { variables: { input: { idempotencyKey: string } } }).variables.input;

describeInBrowser('The checkout example', (browser) => {
  let sandbox: Sandbox;
  let gateway: Gateway;
  let url: string;
  let start: () => Promise<Gateway>;

  beforeAll(async () => {
    sandbox = await testSandbox({ credentials: SANDBOX_CREDENTIALS });
    const [pagePort, gatewayPort] = [await freePort(), await freePort()];
    start = () =>
      startOpenGateway(sandbox.url, {
        PORT: String(gatewayPort),
        CORS_ORIGINS: `http://127.0.0.1:${pagePort}`,
        SERVICE_TIMEOUT_MS: '120000',
      }).then(closeAfterTests);
    gateway = await start();
    ({ url } = await serveCheckout({ PORT: String(pagePort), PAYGRAPH_URL: gateway.url }));
  });

  afterEach(() => browser.closePages());

  async function openPage() {
    const { page, problems } = await browser.open();
    const creates: Request[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.postData()?.includes('mutation CreatePayment'))
        creates.push(request);
    });
    await page.goto(url);
    return { page, problems, creates };
  }

  const press = (page: Page, name: string): Promise<void> =>
    page.getByRole('button', { name, exact: true }).click();
  async function order(page: Page, way: string, amount: string, phone?: string): Promise<void> {
    await page.getByRole('radio', { name: way }).check();
    await page.getByLabel('Amount in').fill(amount);
    if (phone !== undefined) await page.getByLabel('Your phone number').fill(phone);
    await press(page, 'Pay');
  }
  async function confirm(page: Page, utr: string): Promise<void> {
    await page.getByLabel(/^UTR/).fill(utr);
    await press(page, 'I have paid');
  }
  const shows = (page: Page, text: string | RegExp): Promise<void> =>
    page.getByRole('status').getByText(text).waitFor();
  const showsPaid = (page: Page, amount: string): Promise<void> =>
    page.getByRole('status').locator('.good', { hasText: amount }).waitFor();
  const alerts = (page: Page, text: string): Promise<void> =>
    page.getByRole('alert').getByText(text).waitFor();
  const created = (): number => sandbox.controlPlane.counts().payment.created;
  const createRequests = (): number => sandbox.controlPlane.counts().payment.creates;
  const newest = (): string => sandbox.controlPlane.transactions(1)[0]!.transactionId;

  test('shows a card payment as paid after the payer has paid on the hosted page', async () => {
    const { page, problems } = await openPage();
    expect(await lowContrastTexts(page)).toEqual([]);
    await order(page, 'Card', '10.00');
    await shows(page, '€10.00 to pay');
    await page.getByRole('link', { name: 'Go to the payment page' }).click();
    await press(page, 'Pay 10.00 EUR');
    await showsPaid(page, '€10.00');
    expect(page.url()).toBe(url);
    expect(problems).toEqual([]);
  });

  test('shows a QR code, and shows the payment as paid when it is completed', async () => {
    const { page, problems } = await openPage();
    await order(page, 'QRIS', '50000.00');
    await page.getByRole('img', { name: /QR code/ }).waitFor();
    await page.waitForFunction('document.querySelector("img").naturalWidth > 0');
    sandbox.controlPlane.settle(newest());
    await showsPaid(page, '50,000.00');
    expect(problems).toEqual([]);
  });

  test('marks an invalid field, and accepts a UTR again after a rejected and a failed confirm', async () => {
    const { page, creates } = await openPage();
    await order(page, 'UPI', '499.00', '12');
    await alerts(page, failed('create', 'InvalidInputError'));
    const phone = page.getByLabel('Your phone number');
    expect(await phone.getAttribute('aria-invalid')).toBe('true');
    const described = await phone.getAttribute('aria-describedby');
    expect(await page.locator(`[id="${described}"]`).textContent()).not.toBe('');
    await phone.fill('+919876543210');
    await press(page, 'Pay');
    await page.getByText(/Pay to .*@/).waitFor();
    // The sandbox refuses this code.
    await confirm(page, '000000');
    await alerts(page, failed('confirm', 'RejectedByServiceError'));
    sandbox.controlPlane.inject({ operation: 'confirm', fault: 'status', status: 429, times: 1 });
    await confirm(page, '412345678901');
    await alerts(page, unavailable('confirm'));
    await press(page, 'I have paid');
    await showsPaid(page, '₹499.00');
    expect(new Set(creates.map((request) => inputOf(request).idempotencyKey)).size).toBe(1);
  });

  test('shows the reason of a decline, and uses a new idempotency key for another payment method', async () => {
    const { page, creates } = await openPage();
    await order(page, 'Card', '25.51');
    await shows(page, declineText({ reason: 'INSUFFICIENT_FUNDS' }));
    await press(page, 'Try another way');
    await order(page, 'QRIS', '25.00');
    await shows(page, /25\.00 to pay/);
    expect(new Set(creates.map((request) => inputOf(request).idempotencyKey)).size).toBe(2);
  });

  test('repeats a create with the same input if the page is reloaded while the create is in flight', async () => {
    const { page, creates } = await openPage();
    const [before, sent] = [created(), createRequests()];
    sandbox.controlPlane.inject({ operation: 'create', fault: 'delay', ms: HOUR_MS, times: 1 });
    await order(page, 'Card', '11.00');
    await until(createRequests, (count) => count > sent);
    await page.reload();
    await alerts(page, failed('create', 'RequestInProgressError'));
    sandbox.controlPlane.advance(HOUR_MS);
    await shows(page, '€11.00 to pay');
    expect(created()).toBe(before + 1);
    expect(creates.length).toBeGreaterThan(1);
    expect(new Set(creates.map((request) => JSON.stringify(inputOf(request)))).size).toBe(1);
  });

  test('retries with the same idempotency key when the service is unavailable or no response arrives', async () => {
    const { page, creates } = await openPage();
    const before = created();
    sandbox.controlPlane.inject({ operation: 'create', fault: 'status', status: 429, times: 1 });
    await order(page, 'Card', '12.00');
    await alerts(page, unavailable('create'));
    expect(await page.getByLabel('Amount in').isDisabled()).toBe(true);
    // The gateway carries it out, but its response does not arrive.
    await page.route('**/graphql', async (route) => {
      await route.fetch();
      await route.abort('connectionreset');
      await page.unroute('**/graphql');
    });
    await press(page, 'Try again');
    await alerts(page, troubleText({ operation: 'create', thrown: new TypeError('fetch failed') }));
    await press(page, 'Try again');
    await shows(page, '€12.00 to pay');
    expect(created()).toBe(before + 1);
    const inputs = creates.map(inputOf);
    expect(inputs).toEqual(Array(3).fill(inputs[0]));
  });

  test('resolves an unknown outcome without any action of the payer, and creates only one payment', async () => {
    const { page } = await openPage();
    const before = created();
    // With these cents lookups do not find the payment for a while.
    sandbox.controlPlane.inject({ operation: 'create', fault: 'cut_after', times: 1 });
    sandbox.controlPlane.inject({ operation: 'lookup', fault: 'delay', ms: HOUR_MS, times: 1 });
    await order(page, 'Card', '13.83');
    await alerts(page, failed('create', 'OutcomeUnknownError'));
    sandbox.controlPlane.advance(HOUR_MS);
    await shows(page, '€13.83 to pay');
    expect(created()).toBe(before + 1);
  });

  test('does not ask the payer to pay while the status of the payment is unknown', async () => {
    const { page } = await openPage();
    // With these cents the service shows a status that the gateway does not know.
    await order(page, 'Card', '25.85');
    await shows(page, CHECKED_TEXT);
    expect(await page.getByRole('status').textContent()).not.toMatch(/to pay/);
  });

  test('warns that money may have been taken if a payment fails after its confirm', async () => {
    const { page } = await openPage();
    await order(page, 'UPI', '499.51', '+919876543210');
    await confirm(page, '412345678901');
    await shows(page, MONEY_TAKEN_TEXT);
  });

  test('shows an outage of the gateway, also after a reload, and recovers', async () => {
    const { page } = await openPage();
    await order(page, 'UPI', '25.00', '+919876543210');
    await shows(page, '₹25.00 to pay');
    expect(await page.getByRole('alert').count()).toBe(0);
    await gateway.close();
    await alerts(page, outageText(true));
    await page.reload();
    await alerts(page, outageText(false));
    gateway = await start();
    await shows(page, '₹25.00 to pay');
    expect(await page.getByRole('alert').count()).toBe(0);
  });
});

test('The checkout example starts a gateway that accepts its origin if no gateway is configured', async () => {
  const DATABASE_URL = temporaryDatabase();
  const AUDIT_LOG_FILE = `${DATABASE_URL.slice('file:'.length)}.audit`;
  const { url, gateway } = await serveCheckout({ PORT: '0', DATABASE_URL, AUDIT_LOG_FILE });
  const page = await fetch(url);
  expect(page.headers.get('content-security-policy')).toContain(`connect-src ${gateway} `);
  const { origin } = new URL(url);
  const admitted = await fetch(`${gateway}/graphql`, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'POST' },
  });
  expect(admitted.headers.get('access-control-allow-origin')).toBe(origin);
});

describe('The error texts of the checkout example', () => {
  const failuresOf = (union: string): string[] => {
    const type = buildGatewaySchema().getType(union);
    const members = isUnionType(type) ? type.getTypes().map(({ name }) => name) : [];
    return members.filter((name) => name !== 'PaymentSuccess');
  };
  const OPERATIONS = { create: 'CreatePaymentResult', confirm: 'ConfirmPaymentResult', watch: '' };

  /** Every operation with each of its error types, each code, no response, and an unknown code. */
  const PAIRS = Object.entries(OPERATIONS).flatMap(([operation, union]) => [
    ...failuresOf(union).map((name) => [operation, name, { failure: { __typename: name } }] as const),
    ...PUBLIC_ERROR_CODES.map((code) => [operation, code, { thrown: thrownWith(code) }] as const),
    [operation, 'no response', { thrown: new TypeError('fetch failed') }] as const,
    [operation, 'an unknown error code', { thrown: thrownWith('NEW') }] as const,
  ]);
  const NOTHING_CREATED = ['create InvalidInputError', 'create RejectedByServiceError'];

  test.each(PAIRS)(
    'say "nothing was charged" only if that is certain (operation: %s; result: %s)',
    (operation, outcome, trouble) => {
      const text = troubleText({ operation, ...trouble });
      expect(text).toEqual(expect.any(String));
      expect(CLAIM.test(text)).toBe(NOTHING_CREATED.includes(`${operation} ${outcome}`));
    },
  );

  test('do not reveal suspected fraud', () => {
    const plain = declineText({ reason: null });
    expect(declineText({ reason: 'SUSPECTED_FRAUD' })).toBe(plain);
    expect(declineText({ reason: 'NEW' })).toBe(plain);
    expect(declineText({ reason: 'INSUFFICIENT_FUNDS' })).not.toBe(plain);
  });
});
