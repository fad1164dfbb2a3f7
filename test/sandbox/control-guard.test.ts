import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { eachTest, Running } from './fixtures/running';
import { redirect } from './fixtures/requests';

const running = eachTest({ control: true });

/** fetch() lets nobody set Host or the Sec-Fetch headers: a browser would. */
function call(
  path: string,
  headers: Record<string, string>,
  body?: string,
): Promise<{ status: number; location?: string }> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST';
    const sent = request(
      new URL(`_sandbox/${path}`, running.url),
      { method, headers, agent: false },
      (response) => {
        response.resume();
        resolve({ status: response.statusCode ?? 0, location: response.headers.location });
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

const JSON_TYPE = { 'content-type': 'application/json' };
const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };

test('there is no control plane unless it was asked for', async () => {
  const without = await new Running().start();
  try {
    for (const path of ['', 'events', 'transactions', 'counts', 'faults']) {
      expect((await without.fetch(`_sandbox/${path}`)).status).toBe(404);
    }
    expect((await without.control('reset')).status).toBe(404);
  } finally {
    await without.sandbox.close();
  }
});

test('a form of the console itself is taken and leads back to it', async () => {
  const origin = new URL(running.url).origin;
  const back = { status: 303, location: '/_sandbox/' };
  expect(await call('reset', { ...FORM_TYPE, origin }, '')).toEqual(back);
  expect(await call('reset', { ...FORM_TYPE, 'sec-fetch-site': 'same-origin' }, '')).toEqual(back);
  expect(await call('clock/advance', { ...FORM_TYPE, origin }, 'ms=5000')).toEqual(back);
});

test.each([
  ['a form of another site', { ...FORM_TYPE, origin: 'https://evil.example' }],
  ['a form of a site that hides its name', { ...FORM_TYPE, origin: 'null' }],
  ['a form of another port', { ...FORM_TYPE, 'sec-fetch-site': 'same-site' }],
  ['a form of nobody', FORM_TYPE],
  ['JSON of another site', { ...JSON_TYPE, origin: 'https://evil.example' }],
  ['JSON across sites', { ...JSON_TYPE, 'sec-fetch-site': 'cross-site' }],
])('%s is refused', async (_name, headers) => {
  expect((await call('reset', headers as Record<string, string>, '')).status).toBe(403);
});

test('plain text, which a page may send anywhere, is refused', async () => {
  expect((await call('reset', { 'content-type': 'text/plain' }, '{}')).status).toBe(400);
});

test('a name that somebody else points at this machine opens nothing to a browser', async () => {
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
  ['another port', 403, { 'sec-fetch-site': 'same-site' }],
  ['a site that hides its name', 403, { origin: 'null' }],
  ['the console', 200, { 'sec-fetch-site': 'same-origin' }],
  ['no browser', 200, {}],
])('events for %s: %d', async (_name, status, headers) => {
  expect((await call('events', headers as Record<string, string>)).status).toBe(status);
});

test('the console lists transactions with what can be done to them', async () => {
  const hostile = '<script>x</script>';
  const open = String(
    (await running.createPayment(redirect('card', { external_id: hostile }))).body['transaction_id'],
  );
  const done = String((await running.createPayment(redirect('card'))).body['transaction_id']);
  running.sandbox.control.settle(done);
  const page = await running.fetch('_sandbox/');
  expect(page.status).toBe(200);
  for (const word of ['settle', 'decline', 'underpay']) {
    expect(page.text).toContain(`action="/_sandbox/transactions/${open}/${word}"`);
    expect(page.text).not.toContain(`action="/_sandbox/transactions/${done}/${word}"`);
  }
  expect(page.text).not.toContain(hostile);
  expect(page.text).not.toContain('http-equiv="refresh"');
});

test("the console's policy allows its one script and its one style by their hashes, and calls to the sandbox alone", async () => {
  const page = await running.fetch('_sandbox/');
  const hashOf = (tag: string) => {
    const [, only, ...more] = page.text.split(new RegExp(`</?${tag}>`));
    expect(more).toHaveLength(1);
    return `'sha256-${createHash('sha256')
      .update(only ?? '')
      .digest('base64')}'`;
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

test('the console says how far the clock was moved', async () => {
  const clock = async () => /id="clock".*?<p>(.*?)<\/p>/s.exec((await running.fetch('_sandbox/')).text)?.[1];
  expect(await clock()).toBe('Keeps the real time.');
  await running.control('clock/advance', { ms: 3_605_000 });
  expect(await clock()).toBe('1 h 5 s ahead of the real time.');
  await running.control('reset');
  expect(await clock()).toBe('Keeps the real time.');
});

test('the console can inject a fault with the fields of its form', async () => {
  const form = 'operation=create&resource=&fault=status&times=1&ms=1000&status=418';
  await call('faults', { ...FORM_TYPE, 'sec-fetch-site': 'same-origin' }, form);
  expect((await running.fetch('_sandbox/')).text).toContain('Waiting: status for 1');
  expect((await running.createPayment(redirect('card'))).status).toBe(418);
});
