import fc from 'fast-check';
import { CallbackTokens } from '../../src/core/callbacks/callback-tokens';
import { startRuleHarness } from '../gateway/fixtures/rig';
import { watchPayment, webSocketClient } from '../subscriptions/support/subscriptions';
import { sendCall, redirectCall, newIds, validCall, type Json, type MutationCall } from '../support/calls';
import { freePort } from '../support/free-port';
import { until } from '../support/latch';
import { testGateway, testSandbox, type LoggedGateway } from '../support/gateway';
import { fakeClock } from '../support/fake-clock';
import { describeSqlite, newKey } from '../support/harness';
import { expectSigned } from '../support/signatures';
import { CALLBACKS_ONLY, callbackUrlOf } from './support/harness';

const CREATES = [validCall('createPayment', 'upi'), validCall('createPayout', 'imps')];
const OWN = 'https://shop.example/hooks/1?from=service&order=%C3%A9';
const ADDRESS = /^https:\/\/gateway\.example\/pay\/callbacks\/[\w-]{43}$/;

const again = ({ mutation, input }: MutationCall, more: Json = {}): MutationCall => ({
  mutation,
  input: { ...input, ...newIds(), ...more },
});

async function requestsOf({ client, service }: LoggedGateway, calls: readonly MutationCall[]) {
  const before = service.requests.length;
  for (const call of calls) await sendCall(client, call);
  return service.requests.slice(before);
}

describe('The callback URL of a create', () => {
  let harness: LoggedGateway;

  beforeAll(async () => {
    harness = await startRuleHarness({
      PUBLIC_URL: 'https://Gateway.Example/pay/',
      ALLOWED_URL_HOSTS: 'shop.example',
    });
  });

  test('is a new URL below PUBLIC_URL for each create without a callbackUrl, whatever ALLOWED_URL_HOSTS is', async () => {
    const calls = CREATES.flatMap((call) => [again(call), again(call), again(call, { callbackUrl: null })]);
    const sent = await requestsOf(harness, calls);
    const addresses = sent.map(({ json }) => json['callback_url']);
    expect(new Set(addresses).size).toBe(calls.length);
    for (const address of addresses) expect(address).toMatch(ADDRESS);
    sent.forEach(expectSigned);
  });

  test('is the unchanged callbackUrl of the input if there is one, with and without PUBLIC_URL', async () => {
    for (const one of [harness, await startRuleHarness()]) {
      const calls = CREATES.map((call) => again(call, { callbackUrl: OWN }));
      const sent = await requestsOf(one, calls);
      expect(sent.map(({ json }) => json['callback_url'])).toEqual([OWN, OWN]);
      expect(JSON.stringify(sent)).not.toMatch(/gateway\.example|callbacks/);
      sent.forEach(expectSigned);
    }
  });

  test('is not sent if neither PUBLIC_URL nor callbackUrl is set, and is never sent in a confirm', async () => {
    const confirms = await requestsOf(harness, [validCall('confirmPayment', 'upi')]);
    expect(confirms.filter(({ method }) => method === 'POST')).toHaveLength(1);
    const calls = CREATES.map((call) => again(call));
    const creates = await requestsOf(await startRuleHarness(), calls);
    expect(creates).toHaveLength(2);
    for (const { json } of [...confirms, ...creates]) expect(json).not.toHaveProperty('callback_url');
  });
});

describeSqlite('A repeated create with the same key', (harnesses) => {
  test('is replayed even if PUBLIC_URL was set, changed or removed meanwhile', async () => {
    const none = await harnesses.start();
    const { service, clock } = none;
    const start = (PUBLIC_URL: string) => harnesses.start({ env: { PUBLIC_URL }, service, clock });
    const set = await start('https://gateway.example');
    const other = await start('https://other.example/pay');
    for (const [first, second] of [
      [none, set],
      [set, other],
      [set, none],
      [set, set],
    ] as const)
      for (const kind of ['payment', 'payout'] as const) {
        const key = newKey();
        const { transactionId } = await first.create(kind, key);
        for (const harness of [second, first])
          expect(await harness.create(kind, key)).toMatchObject({ replayed: true, transactionId });
        expect(service.created(key)).toHaveLength(1);
        expect(callbackUrlOf(first, key)).toMatch(first === none ? /^undefined$/ : /^https:\/\/gateway\.ex/);
      }
  });
});

test('A callback of the sandbox after a payment on the hosted page updates the subscriber with one lookup', async () => {
  const clock = fakeClock(Date.now());
  const PORT = String(await freePort());
  const sandbox = await testSandbox();
  const env = { ...CALLBACKS_ONLY, PORT, PUBLIC_URL: `http://127.0.0.1:${PORT}` };
  const client = await testGateway(sandbox.url, { env, clock, inSandbox: true });
  const { data } = await client.request<{ done: { payment: Record<string, string> } }>(
    `mutation ($input: CreatePaymentInput!) { done: createPayment(input: $input) {
      ... on PaymentSuccess { payment { ... on PaymentResource { transactionId redirectUrl } } } } }`,
    { input: redirectCall('CARD').input },
  );
  const { transactionId = '', redirectUrl } = data.done.payment;
  const watching = await watchPayment(webSocketClient(client), transactionId).received(1);
  clock.advance(1000);
  const before = sandbox.controlPlane.counts().payment.lookups;
  await fetch(`${redirectUrl}/pay`, { method: 'POST', redirect: 'manual' });
  await until(() => {
    clock.advance(0);
    return watching.completed;
  });
  expect(watching.statuses).toEqual(['PENDING', 'COMPLETED']);
  expect(sandbox.controlPlane.counts().payment.lookups).toBe(before + 1);
});

const SECRET = 'a secret that all instances share';
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

const tokens = new CallbackTokens(SECRET);

const idOf = (digits: string): string => digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
const attemptId = fc
  .uint8Array({ minLength: 16, maxLength: 16 })
  .map((bytes) => idOf(Buffer.from(bytes).toString('hex')));
const token = attemptId.map((id) => tokens.encode(id));

const bytesOf = (text: string): Buffer => Buffer.from(text, 'base64url');
const withCharacter = (text: string, place: number, character: string): string =>
  text.slice(0, place) + character + text.slice(place + 1);

describe('The callback token of an attempt', () => {
  test('has 43 URL-safe characters, and identifies the attempt on every instance with the same secret', () => {
    fc.assert(
      fc.property(attemptId, fc.string(), (id, secret) => {
        const [one, other] = [new CallbackTokens(secret), new CallbackTokens(secret)];
        expect(one.encode(id)).toMatch(/^[A-Za-z0-9_-]{43}$/);
        expect([other.encode(id), other.decode(one.encode(id))]).toEqual([one.encode(id), id]);
      }),
    );
  });

  test('depends only on id and secret, so that tokens stay valid after an upgrade', () => {
    // The token was computed with HKDF and HMAC by Python's hmac and hashlib.
    const given = '-1L4hO-VlXfsA4IPYJxaMfh7V7aMX__r9lqvtFZh4M0';
    const id = '0f8fad5b-d9cb-469f-a165-70867728950e';
    expect([tokens.encode(id), tokens.decode(given)]).toEqual([given, id]);
  });

  test('reveals no part of the id, and has no half in common with the token of a similar id', () => {
    fc.assert(
      fc.property(attemptId, fc.nat(31), fc.integer({ min: 1, max: 15 }), (id, place, change) => {
        const digits = id.replaceAll('-', '');
        const digit = (Number.parseInt(digits[place] ?? '', 16) ^ change).toString(16);
        const near = idOf(withCharacter(digits, place, digit));
        const [one, other] = [bytesOf(tokens.encode(id)), bytesOf(tokens.encode(near))];
        expect(one.subarray(0, 16)).not.toEqual(other.subarray(0, 16));
        expect(one.subarray(16)).not.toEqual(other.subarray(16));
        const hidden = Buffer.from(digits, 'hex');
        for (let start = 0; start + 6 <= hidden.length; start += 1)
          expect(one.includes(hidden.subarray(start, start + 6))).toBe(false);
      }),
    );
  });
});

describe('An invalid callback token', () => {
  test('with one changed bit or character is rejected', () => {
    fc.assert(
      fc.property(token, (text) => {
        for (let bit = 0; bit < 256; bit += 1) {
          const bytes = bytesOf(text);
          bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
          expect(tokens.decode(bytes.toString('base64url'))).toBeNull();
        }
        const good = Array.from(text, (_, place) =>
          [...ALPHABET].filter((character) => tokens.decode(withCharacter(text, place, character)) !== null),
        );
        expect(good.flat().join('')).toBe(text);
      }),
      { numRuns: 5 },
    );
  });

  test('that was made with another secret, or from parts of two tokens, is rejected', () => {
    fc.assert(
      fc.property(
        attemptId,
        attemptId,
        fc.integer({ min: 1, max: 42 }),
        fc.string(),
        (id, other, cut, secret) => {
          fc.pre(id !== other && secret !== SECRET);
          expect(tokens.decode(new CallbackTokens(secret).encode(id))).toBeNull();
          const [first, second] = [tokens.encode(id), tokens.encode(other)];
          const joined = first.slice(0, cut) + second.slice(cut);
          if (joined !== first && joined !== second) expect(tokens.decode(joined)).toBeNull();
        },
      ),
    );
  });

  test('that a lenient decoder would read as a valid token is rejected', () => {
    fc.assert(
      fc.property(token, (text) => {
        const last = ALPHABET.indexOf(text.at(-1) ?? '');
        const twins = [1, 2, 3].map((spare) => withCharacter(text, 42, ALPHABET[last ^ spare] ?? ''));
        const broken = `${text.slice(0, 20)}\n${text.slice(20)}`;
        // A lenient decoder reads the same bytes from all these spellings.
        for (const spelling of [...twins, `${text}=`, `${text}\n`, ` ${text}`, broken, `${text}A`]) {
          expect(bytesOf(spelling).subarray(0, 32)).toEqual(bytesOf(text));
          expect(tokens.decode(spelling)).toBeNull();
        }
      }),
    );
  });

  test('that is arbitrary text is rejected without an exception', () => {
    const characters = fc.constantFrom(...ALPHABET);
    const junk = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: characters, minLength: 43, maxLength: 43 }),
      attemptId,
      fc.constant('A'.repeat(100_000)),
    );
    fc.assert(
      fc.property(junk, (text) => expect(tokens.decode(text)).toBeNull()),
      { numRuns: 500 },
    );
  });
});
