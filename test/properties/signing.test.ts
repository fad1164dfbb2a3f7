import fc from 'fast-check';
import { createHash } from 'node:crypto';
import { lookupQuery } from '../../src/datasources/service/client';
import { Signer } from '../../src/datasources/service/signature';
import { isPrintable } from '../../src/schema/rules';
import { Secret } from '../../src/secret';
import { CHANNEL, testGateway, testSandbox } from '../support/gateway';

const sha256 = (...parts: Uint8Array[]): Buffer => createHash('sha256').update(Buffer.concat(parts)).digest();

/** HMAC-SHA256 as RFC 2104 defines it, from the hash alone. */
function hmac(key: string, text: string): string {
  const bytes = Buffer.from(key, 'utf8');
  const block = new Uint8Array(64);
  block.set(bytes.length > 64 ? sha256(bytes) : bytes);
  const inner = sha256(
    block.map((byte) => byte ^ 0x36),
    Buffer.from(text, 'utf8'),
  );
  return sha256(
    block.map((byte) => byte ^ 0x5c),
    inner,
  ).toString('hex');
}

/** Decodes a query string and refuses everything that has more than one reading: bare signs, "+", broken escapes. */
function strictlyDecoded(query: string): [string, string][] {
  const decoded = (text: string): string => {
    if (!/^(?:[A-Za-z0-9\-._~!*'()]|%[0-9A-F]{2})*$/.test(text)) throw new Error('A sign is not escaped.');
    const bytes = text
      .match(/%..|./g)
      ?.map((one) => (one.length === 3 ? parseInt(one.slice(1), 16) : one.charCodeAt(0)));
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes ?? []));
  };
  return query.split('&').map((pair) => {
    const [name = '', value, ...more] = pair.split('=');
    if (value === undefined || more.length > 0) throw new Error('A pair has not one equals sign.');
    return [decoded(name), decoded(value)];
  });
}

const anyText = fc.string({ unit: 'binary' });
const hostile = fc.string({ unit: fc.constantFrom(...' &=+%#?/\\"\'<>;,\u00a0éЖ中😀\ufeff٣') });
const moment = fc.integer({ min: 0, max: 4_102_444_800_000 });

test('the signature is the HMAC of the timestamp and the data, whatever key and data', () => {
  const key = fc.string({ unit: 'binary', minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(key, fc.oneof(anyText, hostile), moment, (secret, data, nowMs) => {
      const seconds = String((nowMs - (nowMs % 1000)) / 1000);
      expect(new Signer(new Secret('key'), new Secret(secret)).headers(data, nowMs)).toEqual({
        'x-api-key': 'key',
        'x-timestamp': seconds,
        'x-signature': hmac(secret, seconds + data),
      });
    }),
    { numRuns: 500 },
  );
});

test('the query string says every id again to a strict reader, and to a lenient one', () => {
  const maybe = <T>(some: fc.Arbitrary<T>) => fc.option(some, { nil: undefined });
  const key = fc.record({
    channel: fc.uuid(),
    transactionId: maybe(fc.uuid()),
    externalId: fc.oneof(anyText, hostile),
  });
  fc.assert(
    fc.property(key, ({ channel, transactionId, externalId }) => {
      const query = lookupQuery({ channel, transactionId, externalId });
      const expected = Object.entries({ channel, transaction_id: transactionId, external_id: externalId });
      const given = expected.filter(([, value]) => value !== undefined);
      expect(strictlyDecoded(query)).toEqual(given);
      expect([...new URLSearchParams(query)]).toEqual(given);
    }),
    { numRuns: 1000 },
  );
});

const CREATE = `mutation ($input: CreatePaymentInput!) {
  createPayment(input: $input) { __typename ... on PaymentSuccess { payment { ... on PaymentResource { transactionId } } } }
}`;
const LOOK_UP = `query ($channel: UUID!, $externalId: String!) {
  payment(channel: $channel, externalId: $externalId) { ... on PaymentResource { transactionId externalId } }
}`;

test('a payment with any external id is accepted by the service and found again by it', async () => {
  const sandbox = await testSandbox();
  const client = await testGateway(sandbox.url);
  const externalIds = fc
    .oneof(fc.string({ unit: 'grapheme', minLength: 1 }), hostile)
    .filter((text) => isPrintable(text) && text.trim() !== '' && text.length <= 255);
  await fc.assert(
    fc.asyncProperty(externalIds, async (externalId) => {
      const amount = { currency: 'EUR', value: '1.00' };
      const method = { redirect: 'CARD' };
      const input = { idempotencyKey: externalId, channel: CHANNEL, amount, externalId, method };
      const created = await client.ask<{ createPayment: { payment: { transactionId: string } } }>(CREATE, {
        input,
      });
      expect(created.errors).toBeUndefined();
      const { transactionId } = created.data.createPayment.payment;
      const found = await client.ask(LOOK_UP, { channel: CHANNEL, externalId });
      expect(found.data).toEqual({ payment: { transactionId, externalId } });
    }),
    { numRuns: 60 },
  );
});
