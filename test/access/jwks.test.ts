import type { ServerResponse } from 'node:http';
import { until } from '../exactly-once/support/gate';
import { TRANSACTION_ID } from '../gateway/fixtures/calls';
import { expectUnauthenticated } from './support/answers';
import { liveRig } from '../live/support/live-rig';
import { pass, stopDate } from './support/date';
import { Issuer, newKey, tokenBy, type SigningKey } from './support/issuer';
import { OURS, accessRig, bearer, clientOf, keyOf, type Rig } from './support/rig';

const LOOKUP = 'query Q($c: UUID!, $t: UUID!) { payment(channel: $c, transactionId: $t) { __typename } }';
const UNLOADED = 'the public keys of AUTH_JWKS_URL could not be loaded';

/** How long an issuer is not asked again by a token with an unknown key, and how long after a failure. */
const COOLDOWN_MS = 30_000;
const RETRY_MS = 5_000;
/** How old the keys may become before they are loaded again, and how long they serve where they cannot be. */
const MAX_UNCHECKED_MS = 60_000;
const MAX_STALE_MS = 3_600_000;

let first: SigningKey;
let second: SigningKey;
let stranger: SigningKey;

beforeAll(async () => {
  [first, second, stranger] = await Promise.all([newKey('ES256'), newKey('ES256'), newKey('ES256')]);
});

beforeEach(stopDate);
afterEach(() => void jest.useRealTimers());

interface Bench {
  rig: Rig;
  issuer: Issuer;
  ask(token: string): ReturnType<Rig['client']['ask']>;
  status(token: string): Promise<number>;
}

async function bench(issuer: Issuer): Promise<Bench> {
  const clients = [clientOf('shop', { channels: [OURS] })];
  const rig = await accessRig({ clients, env: issuer.settings });
  const ask = (token: string) => rig.client.ask(LOOKUP, { c: OURS, t: TRANSACTION_ID }, bearer(token));
  return { rig, issuer, ask, status: async (token) => (await ask(token)).status };
}

const unknownKeys = (count: number): Promise<string[]> =>
  Promise.all(
    Array.from({ length: count }, (_, place) => tokenBy(stranger, { header: { kid: `x${place}` } })),
  );

/** What a caller hears whose token nobody can check now. */
async function expectUnavailable({ ask, rig }: Bench, token: string): Promise<void> {
  rig.service.seen.length = 0;
  const { status, headers, errors, text } = await ask(token);
  expect({ status, text }).toMatchObject({ status: 503 });
  expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  expect(headers.get('www-authenticate')).toBeNull();
  expect(errors).toMatchObject([
    { extensions: { code: 'SERVICE_UNAVAILABLE', retryable: true, requestId: headers.get('x-request-id') } },
  ]);
  expect(rig.service.seen).toHaveLength(0);
}

const expectKeysServe = async ({ rig }: Bench): Promise<void> => {
  const { errors } = await rig.client.ask(LOOKUP, { c: OURS, t: TRANSACTION_ID }, bearer(keyOf('shop')));
  expect(errors).toBeUndefined();
};

const warnings = ({ rig }: Bench): number => rig.logLines.filter((line) => line.includes(UNLOADED)).length;

describe('An issuer that changes its keys', () => {
  test('is asked for them once, however many tokens come', async () => {
    const b = await bench(await Issuer.start(first, second));
    const tokens = await Promise.all([first, second, first, second].map((key) => tokenBy(key)));
    const statuses = await Promise.all([...tokens, ...tokens, ...tokens].map(b.status));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(b.issuer.requests).toBe(1);
  });

  test('a new key is found as soon as a token by it comes, and the old one serves while it is published', async () => {
    const b = await bench(await Issuer.start(first));
    expect(await b.status(await tokenBy(first))).toBe(200);
    b.issuer.keys = [first, second];
    pass(COOLDOWN_MS + 1);
    expect(await b.status(await tokenBy(second))).toBe(200);
    expect(await b.status(await tokenBy(first))).toBe(200);
    expect(b.issuer.requests).toBe(2);
  });

  test('a withdrawn key is refused when the keys have been loaded again', async () => {
    const b = await bench(await Issuer.start(first));
    expect(await b.status(await tokenBy(first))).toBe(200);
    b.issuer.keys = [second];
    pass(COOLDOWN_MS + 1);
    expect(await b.status(await tokenBy(second))).toBe(200);
    expectUnauthenticated(await b.ask(await tokenBy(first)));
  });

  test('another key under the kid of the old one takes its place', async () => {
    const b = await bench(await Issuer.start(first));
    const same = { ...second, kid: first.kid, jwk: { ...second.jwk, kid: first.kid } };
    expect(await b.status(await tokenBy(first))).toBe(200);
    b.issuer.keys = [same, stranger];
    pass(COOLDOWN_MS + 1);
    expect(await b.status(await tokenBy(stranger))).toBe(200);
    expect(await b.status(await tokenBy(same))).toBe(200);
    expectUnauthenticated(await b.ask(await tokenBy(first)));
  });

  test('a withdrawn key is refused after a minute although no other token ever came', async () => {
    const b = await bench(await Issuer.start(first));
    const token = await tokenBy(first);
    expect(await b.status(token)).toBe(200);
    b.issuer.keys = [second];
    pass(MAX_UNCHECKED_MS);
    expect(await b.status(token)).toBe(401);
    expect(b.issuer.requests).toBe(2);
  });

  test('a withdrawn key is refused within a minute while tokens come all the time', async () => {
    const b = await bench(await Issuer.start(first));
    const token = await tokenBy(first);
    expect(await b.status(token)).toBe(200);
    b.issuer.keys = [second];
    pass(MAX_UNCHECKED_MS / 2);
    await until(
      () => b.status(token),
      (status) => status === 401,
    );
    expect(b.issuer.requests).toBe(2);
  });

  test('keys are checked anew when the clock was set back', async () => {
    const b = await bench(await Issuer.start(first));
    expect(await b.status(await tokenBy(first))).toBe(200);
    b.issuer.keys = [second];
    pass(-24 * 60 * 60_000);
    expect(await b.status(await tokenBy(first))).toBe(401);
  });
});

describe('Tokens with keys that nobody knows', () => {
  test('are refused, and do not make the gateway ask the issuer again and again', async () => {
    const b = await bench(await Issuer.start(first));
    expect(await b.status(await tokenBy(first))).toBe(200);
    for (const rounds of [1, 2, 3]) {
      const tokens = await unknownKeys(20);
      const together = await Promise.all(tokens.map(b.status));
      const oneByOne: number[] = [];
      for (const token of tokens) oneByOne.push(await b.status(token));
      expect(new Set([...together, ...oneByOne])).toEqual(new Set([401]));
      expect(b.issuer.requests).toBe(rounds);
      pass(COOLDOWN_MS + 1);
    }
    expect(await b.status(await tokenBy(first))).toBe(200);
  });
});

const html = (response: ServerResponse): void => {
  response.writeHead(200, { 'content-type': 'text/html' });
  response.end('<html>Please log in</html>');
};
const status =
  (code: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse): void => {
    response.writeHead(code, headers);
    response.end();
  };
const json = (value: unknown) => (response: ServerResponse) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
};

/** Ways in which a host does not give its keys. */
const TROUBLES: [string, (response: ServerResponse) => void][] = [
  ['answers 500', status(500)],
  ['answers 404', status(404)],
  ['answers nothing, with 200', status(200)],
  ['answers nothing, with 204', status(204)],
  ['answers HTML', html],
  ['answers null', json(null)],
  ['answers a list', json([])],
  ['answers keys that are no list', json({ keys: 'none' })],
  ['answers keys that are no objects', json({ keys: [1, 2] })],
  ['cuts the connection', (response) => response.destroy()],
  [
    'cuts its answer',
    (response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"keys": [');
      setImmediate(() => response.destroy());
    },
  ],
];

/** After an hour without its keys nobody can say which tokens are good: 503, and 401 for none but hopeless ones. */
async function expectServesForAnHour(b: Bench): Promise<void> {
  pass(MAX_STALE_MS);
  await expectUnavailable(b, await tokenBy(first));
  await expectUnavailable(b, await tokenBy(stranger));
  await expectKeysServe(b);
}

describe.each(TROUBLES)('A host that %s', (_what, answering) => {
  test('from the start: tokens are put off, the host is spared, and all is well when it is', async () => {
    const issuer = await Issuer.start(first);
    issuer.answering = answering;
    const b = await bench(issuer);
    const token = await tokenBy(first);
    await expectUnavailable(b, token);
    for (let count = 0; count < 20; count += 1) expect(await b.status(token)).toBe(503);
    await expectKeysServe(b);
    expect(issuer.requests).toBe(1);
    expect(warnings(b)).toBe(1);

    issuer.answering = undefined;
    pass(RETRY_MS + 1);
    expect(await b.status(token)).toBe(200);
    expect(b.rig.logLines.join('')).not.toContain(token);
  });

  test('later: what was loaded serves on for an hour, and the host is spared', async () => {
    const b = await bench(await Issuer.start(first));
    expect(await b.status(await tokenBy(first))).toBe(200);
    b.issuer.answering = answering;
    pass(COOLDOWN_MS + 1);
    const before = b.issuer.requests;
    for (const token of await unknownKeys(20)) expectUnauthenticated(await b.ask(token));
    expect(b.issuer.requests - before).toBe(1);
    expect(await b.status(await tokenBy(first))).toBe(200);
    await expectServesForAnHour(b);
    b.issuer.answering = undefined;
    pass(RETRY_MS + 1);
    expect(await b.status(await tokenBy(first))).toBe(200);
  });
});

describe('A host that is down', () => {
  test('from the start: the gateway starts, tokens are put off, and accepted once it is up', async () => {
    const issuer = await Issuer.start(first);
    await issuer.down();
    const b = await bench(issuer);
    await expectUnavailable(b, await tokenBy(first));
    await expectKeysServe(b);
    await issuer.up();
    pass(RETRY_MS + 1);
    expect(await b.status(await tokenBy(first))).toBe(200);
  });

  test('says of a token that can never be good that it is not', async () => {
    const issuer = await Issuer.start(first);
    await issuer.down();
    const b = await bench(issuer);
    for (const header of [{ alg: 'none' }, { alg: 'HS256' }, { alg: 'PS256' }]) {
      const [, payload = ''] = (await tokenBy(first)).split('.');
      const head = Buffer.from(JSON.stringify(header)).toString('base64url');
      expectUnauthenticated(await b.ask(`${head}.${payload}.AAAA`));
    }
  });

  test('later: tokens are accepted for an hour as before, also those that are made then', async () => {
    const b = await bench(await Issuer.start(first));
    expect(await b.status(await tokenBy(first))).toBe(200);
    await b.issuer.down();
    for (const ms of [COOLDOWN_MS + 1, MAX_UNCHECKED_MS, MAX_STALE_MS / 2]) {
      pass(ms);
      expect(await b.status(await tokenBy(first))).toBe(200);
      expectUnauthenticated(await b.ask(await tokenBy(stranger)));
    }
    await expectServesForAnHour(b);
  });
});

test('A host that never answers puts off its tokens after a second, and nobody else', async () => {
  jest.useRealTimers();
  const issuer = await Issuer.start(first);
  const held: ServerResponse[] = [];
  issuer.answering = (response) => void held.push(response);
  const clients = [clientOf('shop', { channels: [OURS] })];
  const rig = await liveRig({ clients, env: issuer.settings });
  const status = async (credentials: string): Promise<number> =>
    (await rig.client.ask('{ __typename }', {}, bearer(credentials))).status;
  const token = await tokenBy(first);
  const waiting = status(token);
  expect(await status(keyOf('shop'))).toBe(200);
  await until(() => held.length, Boolean);
  rig.clock.advance(1000);
  expect([await waiting, await status(token)]).toEqual([503, 503]);
  issuer.answering = undefined;
  rig.clock.advance(4000);
  await until(() => rig.logLines.join('').includes(UNLOADED), Boolean);
  expect(await status(token)).toBe(503);
  rig.clock.advance(RETRY_MS);
  expect(await status(token)).toBe(200);
  for (const response of held) response.destroy();
});

test('A host that hangs holds up one second of tokens, and those with known keys not at all', async () => {
  jest.useRealTimers();
  const issuer = await Issuer.start(first);
  const rig = await liveRig({ env: issuer.settings });
  const status = async (token: string): Promise<number> =>
    (await rig.client.ask('{ __typename }', {}, bearer(token))).status;
  const [good, bad] = [await tokenBy(first), await tokenBy(stranger)];
  expect(await status(good)).toBe(200);
  const held: ServerResponse[] = [];
  issuer.answering = (response) => void held.push(response);
  rig.clock.advance(COOLDOWN_MS);
  expect(await status(good)).toBe(200);
  const waiting = status(bad);
  await until(() => held.length, Boolean);
  // From here on no answer needs the clock to be moved: none waits.
  rig.clock.advance(1000);
  expect(await waiting).toBe(401);
  const statuses = await Promise.all([good, bad, good, bad].map(status));
  expect(statuses).toEqual([200, 401, 200, 401]);
  rig.clock.advance(MAX_UNCHECKED_MS);
  await until(() => rig.logLines.join('').includes(UNLOADED), Boolean);
  expect(await status(good)).toBe(200);
  for (const response of held) response.destroy();
});

test('A host that sends elsewhere is not followed', async () => {
  const elsewhere = await Issuer.start(stranger);
  const issuer = await Issuer.start(first);
  for (const code of [301, 302, 303, 307, 308]) {
    issuer.answering = status(code, { location: elsewhere.url });
    const b = await bench(issuer);
    expect(await b.status(await tokenBy(stranger))).toBe(503);
  }
  expect(elsewhere.requests).toBe(0);
});

test('An answer far larger than keys are is not read to its end', async () => {
  const issuer = await Issuer.start(first);
  const size = 20 * 1024 * 1024;
  issuer.answering = (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(`{"filler":"${'x'.repeat(size)}",`);
    response.end(`"keys":[${JSON.stringify(first.jwk)}]}`);
  };
  const b = await bench(issuer);
  await expectUnavailable(b, await tokenBy(first));
  issuer.answering = undefined;
  pass(RETRY_MS + 1);
  expect(await b.status(await tokenBy(first))).toBe(200);
});
