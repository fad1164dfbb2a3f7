import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { START, eachTest, Running } from './fixtures/running';
import { direct, payoutTo, redirect } from './fixtures/requests';

describe('The control plane of the sandbox', () => {
  const running = eachTest({ servesControlPlane: true });

  test('lists transactions newest first, in pages', async () => {
    const ids = [];
    for (const name of ['a', 'b', 'c']) ids.unshift(await running.created(redirect({ external_id: name })));
    const list = async (query: string) =>
      (await running.fetch(`_sandbox/transactions?${query}`)).body['transactions'];
    const facts = { kind: 'payment', type: 'card', flow: 'redirect', status: 'pending' };
    expect(await list('limit=2')).toMatchObject([
      { transactionId: ids[0], externalId: 'c', ...facts },
      { transactionId: ids[1] },
    ]);
    expect(await list(`limit=2&before=${ids[1]}`)).toMatchObject([{ transactionId: ids[2] }]);
    expect((await running.fetch('_sandbox/transactions?limit=0')).status).toBe(400);
  });

  test('shows the latest 50 status transitions, newest first', async () => {
    const id = await running.created(direct('upi'));
    running.clock.advance(2000);
    await running.confirm({ id, utr: '111111' });
    running.sandbox.controlPlane.advance(60_000);
    const transitions = () => running.sandbox.controlPlane.transitions();
    const own = { transactionKind: 'payment', transactionId: id };
    const [utr, provider] = ['processing, waiting_for_utr', 'processing, waiting_for_provider'];
    expect(transitions()).toEqual([
      { ...own, atMs: START + 5000, statusBefore: provider, statusAfter: 'completed' },
      { ...own, atMs: START + 2000, statusBefore: utr, statusAfter: provider },
      { ...own, atMs: START, statusBefore: null, statusAfter: utr },
    ]);
    for (let count = 0; count < 50; count += 1) await running.created(redirect());
    expect(transitions()).toHaveLength(50);
    for (const each of transitions())
      expect(each).toMatchObject({ statusBefore: null, statusAfter: 'pending' });
  });

  test('settles, declines or underpays an open transaction, and refuses to change it again', async () => {
    const error = { code: 'PROVIDER_PROCESSING_FAILED', message: 'Account closed' };
    for (const [word, body, outcome] of [
      ['settle', {}, { status: 'completed' }],
      ['decline', error, { status: 'failed', error }],
      ['underpay', { received: '24.99' }, { status: 'mispaid', amount: { received: '24.99' } }],
    ] as const) {
      const id = await running.created(direct('upi'));
      await running.control(`transactions/${id}/${word}`, body);
      for (const again of ['settle', 'decline', 'underpay'])
        expect((await running.control(`transactions/${id}/${again}`)).status).toBe(409);
      expect((await running.payment(id)).body).toMatchObject(outcome);
      expect((await running.control(`transactions/none/${word}`)).status).toBe(404);
    }
  });

  test('runs the timers that fall due when the clock is advanced', async () => {
    const id = await running.created(direct('jazz_cash'));
    const first = await running.control('clock/advance', { ms: 1499 });
    expect(first.body).toEqual({ now: '2024-05-31T09:12:46.622Z', fired: 0 });
    expect((await running.control('clock/advance', { ms: 1 })).body['fired']).toBe(1);
    expect((await running.payment(id)).body['status']).toBe('completed');
    const later = await running.createPayment(redirect());
    expect(later.body['create_date']).toMatch(/^2024-05-31T09:12:46\.623\d{3}\+00:00$/);
  });

  const create = () => running.createPayment(redirect({ external_id: 'x' }));
  const exists = async () => (await running.paymentNamed('x')).status === 200;

  test.each([
    [{ fault: 'cut_before' }, undefined, false],
    [{ fault: 'cut_after' }, undefined, true],
    [{ fault: 'error_after' }, 500, true],
    [{ fault: 'truncated' }, 201, true],
    [{ fault: 'status', status: 429 }, 429, false],
  ])(
    'makes a create with the fault %j end with status %s, without a transaction id (payment created: %s)',
    async (fault, status, isCreated) => {
      await running.control('faults', { operation: 'create', ...fault });
      const response = await create().catch(() => undefined);
      expect(response?.status).toBe(status);
      expect(response?.body['transaction_id']).toBeUndefined();
      expect(await exists()).toBe(isCreated);
    },
  );

  test('delays a response until the clock is advanced', async () => {
    await running.control('faults', { operation: 'create', fault: 'delay', ms: 4000 });
    let responded = false;
    const response = create().finally(() => (responded = true));
    // A create that has been counted waits only for the clock.
    while (running.sandbox.controlPlane.counts().payment.creates === 0) await running.fetch('healthz');
    running.sandbox.controlPlane.advance(3999);
    await running.fetch('healthz');
    expect(responded).toBe(false);
    running.sandbox.controlPlane.advance(1);
    expect((await response).status).toBe(201);
  });

  test('applies a fault to the given number of requests of its operation and resource', async () => {
    const fault = { operation: 'create', resource: 'payment', fault: 'status', status: 503, times: 2 };
    const injected = await running.control('faults', fault);
    expect(injected.body['faults']).toEqual([{ ...fault, ms: 1000 }]);
    expect((await running.createPayout(payoutTo())).status).toBe(201);
    expect(await exists()).toBe(false);
    for (const status of [503, 503, 201]) expect((await create()).status).toBe(status);
    expect((await running.fetch('_sandbox/faults')).body['faults']).toEqual([]);
  });

  test('refuses an invalid fault', async () => {
    const { status, body } = await running.control('faults', { fault: 'status', status: 200 });
    expect([status, Object.keys(body['errors'] ?? {})]).toEqual([400, ['operation', 'status']]);
  });

  test('counts requests and created transactions', async () => {
    const id = await running.created(direct('upi'));
    await running.createPayment({});
    await running.payment(id);
    await running.confirm({ id, utr: '1' });
    await running.createPayout(payoutTo());
    await running.post('api/v1/payment/', '{}', { 'X-API-Key': 'stranger' });
    expect((await running.fetch('_sandbox/counts')).body).toEqual({
      payment: { creates: 2, created: 1, lookups: 1, confirms: 1 },
      payout: { creates: 1, created: 1, lookups: 0, confirms: 0 },
    });
  });

  test('deletes all transactions, faults and clock offsets on reset', async () => {
    const id = await running.created(direct('jazz_cash'));
    await running.control('faults', { operation: 'create', fault: 'cut_before' });
    await running.control('clock/advance', { ms: 60_000 });
    expect((await running.control('reset')).status).toBe(200);
    expect((await running.payment(id)).status).toBe(404);
    expect((await running.createPayment(redirect())).body['create_date']).toContain('T09:12:45.');
    expect(running.sandbox.controlPlane.counts().payment.creates).toBe(1);
  });
});

describe('The access control of the sandbox control plane', () => {
  const running = eachTest({ servesControlPlane: true });

  /** fetch() does not allow Host and Sec-Fetch headers. */
  async function call(path: string, headers: Record<string, string>, body = '') {
    const method = 'content-type' in headers ? 'POST' : 'GET';
    const sent = request(new URL(`_sandbox/${path}`, running.url), { method, headers, agent: false });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    return { status: response.statusCode, location: response.headers.location };
  }

  const JSON_TYPE = { 'content-type': 'application/json' };
  const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };

  test('responds with 404 to every request unless the control plane is enabled', async () => {
    const without = await new Running().start();
    for (const path of ['', 'events', 'transactions', 'counts', 'faults'])
      expect((await without.fetch(`_sandbox/${path}`)).status).toBe(404);
    expect((await without.control('reset')).status).toBe(404);
  });

  test('accepts a form of the console, and redirects to the console', async () => {
    const origin = new URL(running.url).origin;
    const back = { status: 303, location: '/_sandbox/' };
    expect(await call('reset', { ...FORM_TYPE, 'sec-fetch-site': 'same-origin' })).toEqual(back);
    expect(await call('clock/advance', { ...FORM_TYPE, origin }, 'ms=5000')).toEqual(back);
  });

  const EVIL = { origin: 'https://evil.example' };
  /** The headers of a browser under another host name, as after DNS rebinding. */
  const REBOUND = {
    host: 'evil.example:80',
    origin: 'http://evil.example:80',
    'sec-fetch-site': 'same-origin',
  };

  test.each<[what: string, status: number, path: string, headers: Record<string, string>]>([
    ['a form sent by another site', 403, 'reset', { ...FORM_TYPE, ...EVIL }],
    ['a form sent with the origin null', 403, 'reset', { ...FORM_TYPE, origin: 'null' }],
    ['a form without an Origin header', 403, 'reset', FORM_TYPE],
    ['JSON sent by another site', 403, 'reset', { ...JSON_TYPE, ...EVIL }],
    ['JSON sent by a cross-site request', 403, 'reset', { ...JSON_TYPE, 'sec-fetch-site': 'cross-site' }],
    // A page of any site may send this content type without a CORS preflight.
    ['a request with the content type text/plain', 400, 'reset', { 'content-type': 'text/plain' }],
    ['JSON sent with a foreign Host header (DNS rebinding)', 403, 'reset', { ...JSON_TYPE, ...REBOUND }],
    ['a list request with a foreign Host header (DNS rebinding)', 403, 'transactions', REBOUND],
    ['an event stream request with a foreign Host header (DNS rebinding)', 403, 'events', REBOUND],
    ['an event stream request of another site', 403, 'events', EVIL],
    ['a cross-site event stream request without CORS', 403, 'events', { 'sec-fetch-site': 'cross-site' }],
    ['an event stream request of the console', 200, 'events', { 'sec-fetch-site': 'same-origin' }],
    ['an event stream request without browser headers', 200, 'events', {}],
    ['a list request from the address bar of a browser', 200, 'transactions', { 'sec-fetch-site': 'none' }],
    ['a list request of no browser with another host name', 200, 'transactions', { host: 'sandbox:4001' }],
  ])('responds to %s with %d', async (_what, status, path, headers) => {
    expect((await call(path, headers)).status).toBe(status);
  });

  test("sets a content security policy that allows only the console's script and style and calls to the sandbox", async () => {
    const page = await running.fetch('_sandbox/');
    const hashOf = (tag: string) => {
      const [, only = '', ...more] = page.text.split(new RegExp(`</?${tag}>`));
      expect(more).toHaveLength(1);
      return `'sha256-${createHash('sha256').update(only).digest('base64')}'`;
    };
    expect(page.headers.get('content-security-policy')?.split('; ')).toEqual([
      "default-src 'none'",
      `style-src ${hashOf('style')}`,
      `script-src ${hashOf('script')}`,
      "connect-src 'self'",
      "form-action 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ]);
  });
});
