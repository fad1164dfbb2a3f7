import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { START, eachTest, type Wire, Running } from './fixtures/running';
import { direct, payoutTo, redirect } from './fixtures/requests';

describe('The control plane of the sandbox', () => {
  const running = eachTest({ control: true });

  async function statusOf(id: string): Promise<unknown> {
    return (await running.payment(id)).body['status'];
  }

  test('lists transactions newest first, in pages', async () => {
    const ids = [];
    for (const name of ['a', 'b', 'c']) ids.unshift(await running.created(redirect({ external_id: name })));
    const page = await running.fetch('_sandbox/transactions?limit=2');
    const listed = page.body['transactions'] as unknown as Wire[];
    expect(listed.map((one) => one['transactionId'])).toEqual(ids.slice(0, 2));
    expect(listed[0]).toMatchObject({
      kind: 'payment',
      externalId: 'c',
      type: 'card',
      flow: 'redirect',
      status: 'pending',
    });
    const rest = await running.fetch(`_sandbox/transactions?limit=2&before=${ids[1]}`);
    expect((rest.body['transactions'] as unknown as Wire[]).map((one) => one['transactionId'])).toEqual(
      ids.slice(2),
    );
    expect((await running.fetch('_sandbox/transactions?limit=0')).status).toBe(400);
  });

  test('shows the latest 50 transitions, newest first', async () => {
    const id = await running.created(direct('upi'));
    await running.payment(id);
    running.clock.advance(2000);
    await running.confirm({ id, utr: '111111' });
    running.sandbox.control.advance(60_000);
    const transitions = () => running.sandbox.control.transitions();
    const own = { kind: 'payment', transactionId: id };
    expect(transitions()).toEqual([
      { ...own, at: START + 5000, from: 'processing, waiting_for_provider', to: 'completed' },
      {
        ...own,
        at: START + 2000,
        from: 'processing, waiting_for_utr',
        to: 'processing, waiting_for_provider',
      },
      { ...own, at: START, from: null, to: 'processing, waiting_for_utr' },
    ]);
    const { text } = await running.fetch('_sandbox/');
    expect(text.match(/completed|waiting_for_\w+(?=<)/g)).toEqual(
      expect.arrayContaining(['completed', 'waiting_for_provider', 'waiting_for_utr']),
    );
    for (let count = 0; count < 50; count += 1) await running.created(redirect());
    expect(transitions()).toHaveLength(50);
    expect(transitions().every(({ from, to }) => from === null && to === 'pending')).toBe(true);
    await running.control('reset');
    expect(transitions()).toEqual([]);
  });

  test('settles a transaction at once with the outcome that its amount selects', async () => {
    const good = await running.created(redirect());
    const bad = await running.created(redirect({ value: '1.59' }));
    expect((await running.control(`transactions/${good}/settle`)).body['status']).toBe('completed');
    expect((await running.control(`transactions/${bad}/settle`)).body['status']).toBe('failed');
    expect([await statusOf(good), await statusOf(bad)]).toEqual(['completed', 'failed']);
  });

  test('declines with a code and a message, and underpays with the received amount', async () => {
    const declined = await running.created(direct('upi'));
    const error = { code: 'PROVIDER_PROCESSING_FAILED', message: 'Account closed' };
    await running.control(`transactions/${declined}/decline`, error);
    expect((await running.payment(declined)).body).toMatchObject({ status: 'failed', error });
    const underpaid = await running.created(direct('upi'));
    await running.control(`transactions/${underpaid}/underpay`, { received: '24.99' });
    expect((await running.payment(underpaid)).body).toMatchObject({
      status: 'mispaid',
      amount: { received: '24.99' },
    });
  });

  test('responds with 409 if a transaction is already settled and with 404 if it is unknown', async () => {
    const id = await running.created(redirect());
    await running.control(`transactions/${id}/settle`);
    for (const word of ['settle', 'decline', 'underpay']) {
      expect((await running.control(`transactions/${id}/${word}`)).status).toBe(409);
      expect((await running.control(`transactions/none/${word}`)).status).toBe(404);
    }
    expect(await statusOf(id)).toBe('completed');
  });

  test('runs the timers that fall due when the clock is advanced', async () => {
    const id = await running.created(direct('jazz_cash'));
    const first = await running.control('clock/advance', { ms: 1499 });
    expect(first.body).toEqual({ now: '2024-05-31T09:12:46.622Z', fired: 0 });
    expect((await running.control('clock/advance', { ms: 1 })).body['fired']).toBe(1);
    expect(await statusOf(id)).toBe('completed');
    const later = await running.createPayment(redirect());
    expect(later.body['create_date']).toMatch(/^2024-05-31T09:12:46\.623\d{3}\+00:00$/);
  });

  const create = () => running.createPayment(redirect({ external_id: 'x' }));
  const exists = async () => (await running.paymentNamed('x')).status === 200;

  test.each([
    [{ fault: 'cut_before' }, undefined, false],
    [{ fault: 'cut_after' }, undefined, true],
    [{ fault: 'error_after' }, 500, true],
    [{ fault: 'status', status: 429 }, 429, false],
  ])(
    'makes a create with the fault %j end with the status %s (created: %s)',
    async (fault, status, isCreated) => {
      await running.control('faults', { operation: 'create', ...fault });
      const response = await create().catch(() => undefined);
      expect(response?.status).toBe(status);
      expect(await exists()).toBe(isCreated);
    },
  );

  test('truncates the response to a lookup with the fault truncated', async () => {
    await create();
    await running.control('faults', { operation: 'lookup', fault: 'truncated' });
    const { status, text } = await running.paymentNamed('x');
    expect(status).toBe(200);
    expect(() => JSON.parse(text) as unknown).toThrow(SyntaxError);
  });

  test('delays a response until the clock is advanced', async () => {
    await running.control('faults', { operation: 'create', fault: 'delay', ms: 4000 });
    let responded = false;
    const response = create().finally(() => (responded = true));
    // A create that has been counted waits only for the clock.
    while (running.sandbox.control.counts().payment.creates === 0) await running.fetch('healthz');
    running.sandbox.control.advance(3999);
    await running.fetch('healthz');
    expect(responded).toBe(false);
    running.sandbox.control.advance(1);
    expect((await response).status).toBe(201);
  });

  test('applies a fault to the given number of requests of its operation and resource', async () => {
    const fault = { operation: 'create', resource: 'payment', fault: 'status', status: 503, times: 2 };
    const injected = await running.control('faults', fault);
    expect(injected.body['faults']).toEqual([{ ...fault, ms: 1000 }]);
    expect((await running.createPayout(payoutTo())).status).toBe(201);
    expect(await exists()).toBe(false);
    expect([(await create()).status, (await create()).status, (await create()).status]).toEqual([
      503, 503, 201,
    ]);
    expect((await running.fetch('_sandbox/faults')).body['faults']).toEqual([]);
  });

  test.each([
    [{}, ['operation', 'fault']],
    [{ operation: 'create', fault: 'status', status: 200 }, ['status']],
  ])('refuses the fault %j', async (body, names) => {
    const response = await running.control('faults', body);
    expect(response.status).toBe(400);
    expect(Object.keys(response.body['errors'] ?? {})).toEqual(names);
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
    expect(running.sandbox.control.counts().payment.creates).toBe(1);
  });
});

describe('The protection of the control plane', () => {
  const running = eachTest({ control: true });

  /** fetch() does not allow Host and Sec-Fetch headers. */
  async function call(path: string, headers: Record<string, string>, body?: string) {
    const method = body === undefined ? 'GET' : 'POST';
    const sent = request(new URL(`_sandbox/${path}`, running.url), { method, headers, agent: false });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    return { status: response.statusCode, location: response.headers.location };
  }

  const JSON_TYPE = { 'content-type': 'application/json' };
  const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };

  test('hides the control plane unless it is enabled', async () => {
    const without = await new Running().start();
    for (const path of ['', 'events', 'transactions', 'counts', 'faults'])
      expect((await without.fetch(`_sandbox/${path}`)).status).toBe(404);
    expect((await without.control('reset')).status).toBe(404);
  });

  test('accepts a form of the console and redirects to it', async () => {
    const origin = new URL(running.url).origin;
    const back = { status: 303, location: '/_sandbox/' };
    expect(await call('reset', { ...FORM_TYPE, origin }, '')).toEqual(back);
    expect(await call('reset', { ...FORM_TYPE, 'sec-fetch-site': 'same-origin' }, '')).toEqual(back);
    expect(await call('clock/advance', { ...FORM_TYPE, origin }, 'ms=5000')).toEqual(back);
  });

  test.each([
    ['a form of another site', { ...FORM_TYPE, origin: 'https://evil.example' }],
    ['a form of a site with the origin null', { ...FORM_TYPE, origin: 'null' }],
    ['a form without an Origin header', FORM_TYPE],
    ['JSON of another site', { ...JSON_TYPE, origin: 'https://evil.example' }],
    ['JSON across sites', { ...JSON_TYPE, 'sec-fetch-site': 'cross-site' }],
  ])('refuses %s', async (_name, headers) => {
    expect((await call('reset', headers as Record<string, string>, '')).status).toBe(403);
  });

  test('refuses the content type text/plain, which a page of any site may send without a CORS preflight', async () => {
    expect((await call('reset', { 'content-type': 'text/plain' }, '{}')).status).toBe(400);
  });

  test('refuses browsers under another host name, as after DNS rebinding', async () => {
    const rebound = {
      host: 'evil.example:80',
      origin: 'http://evil.example:80',
      'sec-fetch-site': 'same-origin',
    };
    expect((await call('transactions', rebound)).status).toBe(403);
    expect((await call('reset', { ...JSON_TYPE, ...rebound }, '{}')).status).toBe(403);
    expect((await call('events', rebound)).status).toBe(403);
    expect((await call('transactions', { 'sec-fetch-site': 'none' })).status).toBe(200);
    expect((await call('transactions', { host: 'sandbox:4001' })).status).toBe(200);
  });

  test.each([
    ['another site', 403, { origin: 'https://evil.example' }],
    ['another site that asks without CORS', 403, { 'sec-fetch-site': 'cross-site' }],
    ['the console', 200, { 'sec-fetch-site': 'same-origin' }],
    ['no browser', 200, {}],
  ])('responds to a request for events from %s with %d', async (_name, status, headers) => {
    expect((await call('events', headers as Record<string, string>)).status).toBe(status);
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
