import { spawnSync } from 'node:child_process';
import { CHANNEL, SECRET_KEY, testGateway, testSandbox } from '../support/gateway';
import { scriptedService } from '../support/scripted-service';
import { TRANSACTION_ID, accepted, make, validCall, withValue, type Json } from './fixtures/calls';
import { decodeQuery, expectSigned, signatureOf } from './fixtures/strict-service';

const NOW = 1_700_000_000_999;

const LOOKUP = `query Q($c: UUID!, $t: UUID, $e: String) {
  payment(channel: $c, transactionId: $t, externalId: $e) { ... on PaymentResource { transactionId externalId } } }`;

const upi: Json = { idempotencyKey: 'k', channel: CHANNEL, amount: { currency: 'INR', value: '10' } };

/**
 * Signatures by another program. Each was printed by
 *   printf '%s' "$TIMESTAMP$DATA" | openssl dgst -sha256 -hmac 'test-secret-key'
 * with the timestamp 1700000000, and with the data that follows.
 */
const VECTORS: [what: string, data: string, signature: string][] = [
  [
    'a lookup by external id',
    `channel=${CHANNEL}&external_id=order-1`,
    'c7106bd2707dbf36c373108ce39e6f99c8e97539b41d25d9d7321dbde30b7d3e',
  ],
  [
    'a lookup by transaction id',
    `channel=${CHANNEL}&transaction_id=${TRANSACTION_ID}`,
    'acab875df259d3531cf0650fc0cbef85b8897d9906b58648c65edb19080cf0b3',
  ],
  [
    'a lookup by an external id of reserved characters',
    `channel=${CHANNEL}&external_id=a%20b%26c%3Dd%2Be%25f%23g%3Fh%2Fi`,
    '712c5715150fddd5f6bf299297d81a13eb32257820e70c4e73e63215fd124979',
  ],
  [
    'a lookup by an external id of other scripts',
    `channel=${CHANNEL}&external_id=%D0%B7%D0%B0%D0%BA%D0%B0%D0%B7%20%E2%84%96%F0%9F%98%80`,
    '1469e56d20763097330b1a1d88883ea80f286f8f0565e7ce24c234abb38aa54c',
  ],
  [
    'a confirm',
    `{"id":"${TRANSACTION_ID}","utr":"123456789012"}`,
    '7edd06b428ddc210fe8530a59b1492c34eaae5b96e348e8ecc2fa8d102ce1f53',
  ],
  [
    'a create with text of other scripts',
    `{"channel":"${CHANNEL}","amount":{"currency":"INR","value":"10.00"},"external_id":"заказ-1 😀","payment_method":{"type":"upi","first_name":"Żółć \\"Q\\""}}`,
    '020643183e2c6ade0f59d4c4fd726245a2d90017dbad55c58098ee34ecb4dfd1',
  ],
];

/** The call that makes the gateway send each of them. */
const CALLS: [query: string, variables: Json][] = [
  [LOOKUP, { c: CHANNEL, e: 'order-1' }],
  [LOOKUP, { c: CHANNEL, t: TRANSACTION_ID }],
  [LOOKUP, { c: CHANNEL, e: 'a b&c=d+e%f#g?h/i' }],
  [LOOKUP, { c: CHANNEL, e: 'заказ №😀' }],
  [
    'mutation M($i: ConfirmPaymentInput!) { confirmPayment(input: $i) { __typename } }',
    { i: validCall('confirmPayment', 'upi').input },
  ],
  [
    'mutation M($i: CreatePaymentInput!) { createPayment(input: $i) { __typename } }',
    { i: { ...upi, externalId: 'заказ-1 😀', method: { upi: { firstName: 'Żółć "Q"' } } } },
  ],
];

describe('The signature', () => {
  test.each(VECTORS.map((vector, place): [...typeof vector, number] => [...vector, place]))(
    'of %s is the one that openssl computes, over the bytes that were sent',
    async (_what, data, signature, place) => {
      const service = await scriptedService(accepted);
      const client = await testGateway(service.url, { now: () => NOW });
      await client.ask(...(CALLS[place] ?? CALLS[0]!));
      const [sent] = service.seen;
      expect(sent?.method === 'GET' ? sent.query : sent?.body).toBe(data);
      expect(sent?.headers).toMatchObject({ 'x-timestamp': '1700000000', 'x-signature': signature });
    },
  );

  const openssl = spawnSync('openssl', ['version']).status === 0;
  (openssl ? test : test.skip)('vectors in this file come from openssl indeed', () => {
    for (const [, data, signature] of VECTORS) {
      const args = ['dgst', '-sha256', '-hmac', SECRET_KEY];
      const { stdout } = spawnSync('openssl', args, { input: `1700000000${data}`, encoding: 'utf8' });
      expect(stdout.trim().split('= ').pop()).toBe(signature);
      expect(signatureOf('1700000000', data)).toBe(signature);
    }
  });
});

const HOSTILE_IDS = [
  'plain-1',
  'with space',
  ' leading and trailing ',
  'a&b=c&channel=00000000-0000-0000-0000-000000000000',
  'a=b==',
  'a+b++',
  '100%',
  '%41%zz%2',
  'a#b#',
  '?a?b',
  'a/b/../c',
  'a\\b',
  `'single' "double" \`back\``,
  '<b>&amp;</b>',
  'semi;colon:comma,[brackets]{braces}|pipe^caret~tilde!star*(round)$@',
  'заказ-№1',
  '订单/一',
  'طلب ١',
  '😀👩‍👩‍👧',
  'e\u0301 \u00e9',
  'a\u00a0b\u3000c\ufeff',
  'null',
  'x'.repeat(255),
];

describe('A hostile external id', () => {
  test.each(HOSTILE_IDS)('arrives whole and signed at the service: %j', async (externalId) => {
    const nothingThere = { status: 404, json: {} };
    const service = await scriptedService((call) => (call.method === 'GET' ? nothingThere : accepted(call)));
    const client = await testGateway(service.url);
    const { mutation, input } = validCall('createPayout', 'jazzCash');
    const { result } = await make(client, { mutation, input: { ...input, externalId } });
    expect(result?.__typename).toBe('PayoutSuccess');
    const answer = await client.ask(LOOKUP, { c: CHANNEL, e: externalId });
    expect(answer.status).toBe(200);
    // A payout is looked up before it is sent.
    expect(service.seen.map(({ method }) => method)).toEqual(['GET', 'POST', 'GET']);
    const [before, created, lookedUp] = service.seen;
    expect(created?.json['external_id']).toBe(externalId);
    for (const { query = '' } of [before ?? {}, lookedUp ?? {}]) {
      expect(decodeQuery(query)).toEqual({ channel: CHANNEL, external_id: externalId });
      expect(query).toMatch(/^[\x21-\x7e]+$/);
    }
    service.seen.forEach(expectSigned);
  });

  test('finds its own payment, and no other, in a service that checks every signature', async () => {
    const sandbox = await testSandbox();
    const client = await testGateway(sandbox.url);
    const made = new Map<string, string | undefined>();
    for (const externalId of HOSTILE_IDS) {
      const { mutation, input } = validCall('createPayment', 'ewallet');
      const { result } = await make(client, { mutation, input: { ...input, externalId } });
      made.set(externalId, result?.payment?.transactionId);
    }
    expect(new Set(made.values()).size).toBe(HOSTILE_IDS.length);
    for (const [externalId, transactionId] of made) {
      const { data, errors } = await client.ask(LOOKUP, { c: CHANNEL, e: externalId });
      expect(errors).toBeUndefined();
      expect(data).toEqual({ payment: { transactionId, externalId } });
    }
  });

  test.each(['lone\ud800', 'a\nb', 'a\u0000', '', 'x'.repeat(256)])(
    'that cannot be one is refused in a lookup, and nothing is sent: %j',
    async (externalId) => {
      const service = await scriptedService(accepted);
      const client = await testGateway(service.url);
      const { errors } = await client.ask(LOOKUP, { c: CHANNEL, e: externalId });
      expect(errors?.[0]).toMatchObject({
        path: ['payment'],
        extensions: { code: 'BAD_USER_INPUT', retryable: false },
      });
      expect(service.seen).toHaveLength(0);
    },
  );
});

describe('The bytes that are signed are the bytes that are sent', () => {
  const TEXTS = [
    'plain',
    '"quoted" \\ / \b'.replace('\b', ''),
    '漢字 ελληνικά 😀',
    '\u00e9 e\u0301',
    '</script>',
    '\u2060\ufeff',
    '{"json": true}',
  ];

  test.each(TEXTS)('in a create with %j', async (text) => {
    const service = await scriptedService(accepted);
    const client = await testGateway(service.url);
    const fields = {
      text,
      [text]: [text, { deep: text }],
      number: 1e5,
      small: 1e-7,
      minus: -0,
      yes: true,
      none: null,
    };
    const { mutation, input } = validCall('createPayment', 'other');
    const full = {
      ...withValue(input, ['method', 'other', 'fields'], fields),
      externalId: text,
      description: text,
    };
    const { result } = await make(client, { mutation, input: full });
    expect(result?.__typename).toBe('PaymentSuccess');
    const [sent] = service.seen;
    expect(sent).toBeDefined();
    if (sent) expectSigned(sent);
    expect(sent?.json).toMatchObject({
      external_id: text,
      description: text,
      payment_method: { type: 'other', text },
    });
    expect(sent?.headers['content-length']).toBe(String(Buffer.byteLength(sent?.body ?? '')));
  });
});

test('The timestamp is that of the moment of sending, in whole seconds, anew for every call', async () => {
  const service = await scriptedService(accepted);
  let now = NOW;
  const client = await testGateway(service.url, { now: () => now });
  const moments = [NOW, NOW + 1, NOW + 999, NOW + 600_000, NOW - 86_400_000];
  for (const moment of moments) {
    now = moment;
    await make(client, validCall('confirmPayment', 'dcb'));
  }
  const sent = service.seen.map(({ headers }) => headers['x-timestamp']);
  expect(sent).toEqual(moments.map((moment) => String(Math.floor(moment / 1000))));
  service.seen.forEach(expectSigned);
});

test('The path of the base address stands before the paths of the service, and is not signed', async () => {
  const service = await scriptedService(accepted);
  const client = await testGateway(`${service.url}merchant/eu/`, { env: { PAYOUT_PREFLIGHT: 'off' } });
  await make(client, validCall('createPayment', 'other'));
  await make(client, validCall('createPayout', 'other'));
  await make(client, validCall('confirmPayment', 'upi'));
  await client.ask(LOOKUP, { c: CHANNEL, t: TRANSACTION_ID });
  expect(service.seen.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'POST /merchant/eu/api/v1/payment/',
    'POST /merchant/eu/api/v1/payout/',
    'POST /merchant/eu/api/v1/payment/confirm/',
    'GET /merchant/eu/api/v1/payment/',
  ]);
  service.seen.forEach(expectSigned);
});
