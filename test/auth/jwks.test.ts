import type { ServerResponse } from 'node:http';
import { Authenticator } from '../../src/auth/authenticator';
import { AccessError } from '../../src/auth/caller';
import { readConfig } from '../../src/config';
import type { AdvancingClock } from '../../src/sandbox/clock';
import { clientKeysFile } from '../support/credentials';
import { until } from '../support/latch';
import { closeAfterTests, logTo, testGateway, testSettings } from '../support/gateway';
import { Issuer, goodClaims, newKey, tokenBy, type SigningKey } from '../support/issuer';
import { fakeClock } from '../support/fake-clock';
import { expectErrors } from '../support/raw';
import { OURS, bearer, clientOf, keyOf } from './support/harness';

// These are the limits of src/auth/token-keys.ts.
const COOLDOWN_MS = 30_000;
const RETRY_MS = 5_000;
const MAX_UNCHECKED_MS = 60_000;
const MAX_STALE_MS = 3_600_000;
const MAX_WAIT_MS = 1000;

let first: SigningKey;
let second: SigningKey;
let attacker: SigningKey;

beforeAll(async () => {
  [first, second, attacker] = await Promise.all([newKey('ES256'), newKey('ES256'), newKey('ES256')]);
});

/** Returns a token that is valid for most of a day; `kid` may name another key. */
const tokenOf = (key: SigningKey, kid = key.kid): Promise<string> =>
  tokenBy(key, { claims: { exp: (goodClaims().exp ?? 0) + 80_000 }, header: { kid } });

const unknownTokens = (count: number): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, (_, place) => tokenOf(attacker, `x${place}`)));

/** A JWT verifier, with a fake clock. */
class Harness {
  readonly clock: AdvancingClock = fakeClock(Date.now());
  readonly logLines: string[] = [];
  readonly #authenticator: Authenticator;

  constructor(readonly issuer: Issuer) {
    const CLIENT_KEYS_FILE = clientKeysFile(clientOf('shop', { channels: [OURS] }));
    const { access } = readConfig({ ...testSettings(), CLIENT_KEYS_FILE, ...issuer.settings });
    const log = logTo(this.logLines);
    this.#authenticator = new Authenticator({
      clientKeysPath: access.clientKeysFile,
      jwtOptions: access.jwtOptions,
      clock: this.clock,
      log,
    });
    closeAfterTests({ close: async () => this.#authenticator.close() });
  }

  /** Resolves with `accepted`, or with the reason of the refusal. */
  async outcome(credentials: string): Promise<string> {
    try {
      await this.#authenticator.authenticate(bearer(credentials).authorization);
      return 'accepted';
    } catch (error) {
      if (error instanceof AccessError) return error.kind;
      throw error;
    }
  }

  async outcomes(tokens: readonly string[]): Promise<string[]> {
    return [...new Set(await Promise.all(tokens.map((token) => this.outcome(token))))];
  }

  get loadFailures(): number {
    return this.logLines.filter((line) => line.includes('"token_keys_unavailable"')).length;
  }
}

const harnessWith = async (...keys: SigningKey[]): Promise<Harness> =>
  new Harness(await Issuer.start(...keys));

describe('The signing keys of a token issuer', () => {
  test('are loaded by one request for many concurrent tokens', async () => {
    const b = await harnessWith(first, second);
    const tokens = await Promise.all([first, second, first, second].map((key) => tokenOf(key)));
    expect(await b.outcomes([...tokens, ...tokens, ...tokens])).toEqual(['accepted']);
    expect(b.issuer.requests).toBe(1);
  });

  test('are reloaded for a token signed by a new key, and old keys are accepted while they are published', async () => {
    const b = await harnessWith(first);
    expect(await b.outcome(await tokenOf(first))).toBe('accepted');
    b.issuer.keys = [first, second];
    b.clock.advance(COOLDOWN_MS + 1);
    expect(await b.outcomes([await tokenOf(second), await tokenOf(first)])).toEqual(['accepted']);
    expect(b.issuer.requests).toBe(2);
    b.issuer.keys = [second, attacker];
    b.clock.advance(COOLDOWN_MS + 1);
    expect(await b.outcome(await tokenOf(attacker))).toBe('accepted');
    expect(await b.outcome(await tokenOf(first))).toBe('BAD_CREDENTIALS');
  });

  test.each([
    ['a minute after the issuer withdraws them, if no token is checked meanwhile', MAX_UNCHECKED_MS],
    ['within a minute after the issuer withdraws them, while tokens are checked', MAX_UNCHECKED_MS / 2],
  ])('are no longer accepted %s', async (_when, ms) => {
    const b = await harnessWith(first);
    const token = await tokenOf(first);
    expect(await b.outcome(token)).toBe('accepted');
    b.issuer.keys = [second];
    b.clock.advance(ms);
    if (ms === MAX_UNCHECKED_MS) expect(await b.outcome(token)).toBe('BAD_CREDENTIALS');
    await until(async () => (await b.outcome(token)) === 'BAD_CREDENTIALS');
    expect(b.issuer.requests).toBe(2);
  });

  test('are reloaded at most once in 30 seconds when tokens are signed with unknown keys', async () => {
    const b = await harnessWith(first);
    expect(await b.outcome(await tokenOf(first))).toBe('accepted');
    for (const rounds of [1, 2, 3]) {
      const tokens = await unknownTokens(20);
      expect(await b.outcomes(tokens)).toEqual(['BAD_CREDENTIALS']);
      for (const token of tokens) expect(await b.outcome(token)).toBe('BAD_CREDENTIALS');
      expect(b.issuer.requests).toBe(rounds);
      b.clock.advance(COOLDOWN_MS + 1);
    }
    expect(await b.outcome(await tokenOf(first))).toBe('accepted');
  });
});

type Respond = (response: ServerResponse) => void;

const status =
  (code: number, headers: Record<string, string> = {}, body = ''): Respond =>
  (response) =>
    response.writeHead(code, headers).end(body);
const json = (value: unknown) => status(200, { 'content-type': 'application/json' }, JSON.stringify(value));

describe.each<[string, Respond | undefined]>([
  ['is down', undefined],
  ['responds with 500', status(500)],
  ['responds with 200 and no body', status(200)],
  ['responds with keys that are not objects', json({ keys: [1, 2] })],
  ['responds with 2 MB', json({ keys: [], filler: 'x'.repeat(2 * 1024 * 1024) })],
])('An issuer that %s', (_what, fault) => {
  const fail = async ({ issuer }: Harness): Promise<void> => {
    if (!fault) await issuer.down();
    issuer.respondWith = fault;
  };
  const repair = async ({ issuer, clock }: Harness): Promise<void> => {
    if (!fault) await issuer.up();
    issuer.respondWith = undefined;
    clock.advance(RETRY_MS + 1);
  };

  test('from the start leaves its tokens unverifiable, and gets at most one request in 5 seconds', async () => {
    const b = await harnessWith(first);
    await fail(b);
    const token = await tokenOf(first);
    for (let count = 0; count < 10; count += 1) expect(await b.outcome(token)).toBe('KEYS_UNAVAILABLE');
    expect(await b.outcome(keyOf('shop'))).toBe('accepted');
    expect(b.loadFailures).toBe(1);
    if (fault) expect(b.issuer.requests).toBe(1);
    await repair(b);
    expect(await b.outcome(token)).toBe('accepted');
    expect(b.logLines.join('')).not.toContain(token);
  });

  test('after its keys were loaded leaves them valid for an hour, and gets at most one request in 5 seconds', async () => {
    const b = await harnessWith(first);
    expect(await b.outcome(await tokenOf(first))).toBe('accepted');
    await fail(b);
    for (const ms of [COOLDOWN_MS + 1, MAX_UNCHECKED_MS, MAX_STALE_MS / 2]) {
      b.clock.advance(ms);
      const before = b.loadFailures;
      for (const token of await unknownTokens(5)) expect(await b.outcome(token)).toBe('BAD_CREDENTIALS');
      expect(b.loadFailures - before).toBe(1);
      expect(await b.outcome(await tokenOf(first))).toBe('accepted');
    }
    b.clock.advance(MAX_STALE_MS);
    for (const key of [first, attacker]) expect(await b.outcome(await tokenOf(key))).toBe('KEYS_UNAVAILABLE');
    expect(await b.outcome(keyOf('shop'))).toBe('accepted');
    await repair(b);
    expect(await b.outcome(await tokenOf(first))).toBe('accepted');
  });
});

describe('An issuer', () => {
  /** Makes the issuer hold each response until the tests end. Returns the held responses. */
  function hold({ issuer }: Harness): ServerResponse[] {
    const held: ServerResponse[] = [];
    issuer.respondWith = (response) => void held.push(response);
    return held;
  }

  test('that never responds delays the first requests with its tokens by a second, and delays no other requests', async () => {
    const b = await harnessWith(first);
    const held = hold(b);
    const token = await tokenOf(first);
    const waiting = b.outcome(token);
    expect(await b.outcome(keyOf('shop'))).toBe('accepted');
    await until(() => held.length);
    b.clock.advance(MAX_WAIT_MS);
    expect([await waiting, await b.outcome(token)]).toEqual(['KEYS_UNAVAILABLE', 'KEYS_UNAVAILABLE']);
    b.issuer.respondWith = undefined;
    b.clock.advance(4000);
    await until(() => b.loadFailures);
    expect(await b.outcome(token)).toBe('KEYS_UNAVAILABLE');
    b.clock.advance(RETRY_MS);
    expect(await b.outcome(token)).toBe('accepted');
  });

  test('that stops responding does not delay tokens signed by known keys', async () => {
    const b = await harnessWith(first);
    const [good, bad] = [await tokenOf(first), await tokenOf(attacker)];
    expect(await b.outcome(good)).toBe('accepted');
    const held = hold(b);
    b.clock.advance(COOLDOWN_MS);
    const waiting = b.outcome(bad);
    await until(() => held.length);
    b.clock.advance(MAX_WAIT_MS);
    expect(await waiting).toBe('BAD_CREDENTIALS');
    // The clock does not advance here: an outcome that waits for it would never come.
    expect([await b.outcome(good), await b.outcome(bad)]).toEqual(['accepted', 'BAD_CREDENTIALS']);
    b.clock.advance(MAX_UNCHECKED_MS);
    await until(() => b.loadFailures);
    expect(await b.outcome(good)).toBe('accepted');
  });

  test('that redirects the request for its keys provides no keys, because redirects are not followed', async () => {
    const elsewhere = await Issuer.start(attacker);
    const b = await harnessWith(first);
    b.issuer.respondWith = status(307, { location: elsewhere.url });
    expect(await b.outcome(await tokenOf(attacker))).toBe('KEYS_UNAVAILABLE');
    expect([b.issuer.requests, elsewhere.requests]).toEqual([1, 0]);
  });
});

test('A gateway that cannot load the keys of its issuer starts, and responds to tokens with 503 and Retry-After', async () => {
  const issuer = await Issuer.start(first);
  await issuer.down();
  const client = await testGateway('http://127.0.0.1:9/', { env: issuer.settings });
  const response = await client.request('{ __typename }', {}, bearer(await tokenOf(first)));
  expect(response.status).toBe(503);
  expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  expect(response.headers.get('www-authenticate')).toBeNull();
  expectErrors(response, 'SERVICE_UNAVAILABLE');
  expect(response.errors).toMatchObject([{ extensions: { retryable: true } }]);
  expect((await client.request('{ __typename }')).status).toBe(200);
});
