import fc from 'fast-check';
import { decodeNodeId, encodeNodeId, type NodeRef } from '../../src/schema/node';
import { isPrintable } from '../../src/shared/text';
import { normalizeDecimal } from '../../src/schema/scalars';
import { CHANNEL, testGateway, testSandbox } from '../support/gateway';
import { sendCall, redirectCall } from '../support/calls';
import { digits } from './fixtures/canaries';

/** Reference implementation of Decimal. Returns the amount in hundredths; undefined if it is invalid. */
function hundredths(text: string): bigint | undefined {
  const [whole = '', fraction, ...more] = text.split('.');
  const hasDigitsOnly = [...whole, ...(fraction ?? '')].every((character) =>
    '0123456789'.includes(character),
  );
  const wholeFits = whole.length >= 1 && whole.length <= 15;
  const fractionFits = fraction === undefined || fraction.length === 1 || fraction.length === 2;
  if (more.length > 0 || !hasDigitsOnly || !wholeFits || !fractionFits) return undefined;
  const amount = BigInt(whole) * 100n + BigInt((fraction ?? '').padEnd(2, '0'));
  return amount > 0n ? amount : undefined;
}

test('A Decimal is accepted only in its documented form, and is normalised to two decimals with the same value', () => {
  /** Decimals and near misses: too long, signed, spaced, with an exponent, in other digits. */
  const nearlyDecimal = fc
    .tuple(
      fc.constantFrom('', '', '', '', '-', '+', ' ', '0x', '.'),
      fc.oneof(digits(1, 15), digits(0, 18)),
      fc.oneof(
        fc.constant(''),
        fc.oneof(digits(1, 2), digits(0, 4)).map((fraction) => `.${fraction}`),
      ),
      fc.constantFrom('', '', '', '', 'e1', '\n', ' ', '.', ',5', '٣', '5\u0000'),
    )
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.oneof({ weight: 9, arbitrary: nearlyDecimal }, fc.string({ unit: 'binary' })), (text) => {
      const normal = normalizeDecimal(text);
      expect(normal && BigInt(normal.replace('.', ''))).toBe(hundredths(text));
      if (normal === undefined) return;
      expect(normal).toMatch(/^(0|[1-9]\d{0,14})\.\d\d$/);
      expect(normalizeDecimal(normal)).toBe(normal);
    }),
    { numRuns: 400 },
  );
});

describe('A global id', () => {
  const ref: fc.Arbitrary<NodeRef> = fc.record({
    kind: fc.constantFrom('payment', 'payout'),
    channel: fc.uuid(),
    transactionId: fc.uuid(),
  });

  test('decodes to its kind, channel and transaction id, and does not depend on the letter case of the UUIDs', () => {
    fc.assert(
      fc.property(ref, (one) => {
        const { kind, channel, transactionId } = one;
        const capitals = { kind, channel: channel.toUpperCase(), transactionId: transactionId.toUpperCase() };
        expect(decodeNodeId(encodeNodeId(one))).toEqual(one);
        expect(encodeNodeId(capitals)).toBe(encodeNodeId(one));
      }),
    );
  });

  const id = ref.map(encodeNodeId);
  const base64url = (bytes: Iterable<number>) => Buffer.from([...bytes]).toString('base64url');
  const bytes = (minLength: number, maxLength: number) => fc.uint8Array({ minLength, maxLength });

  /** Tampered ids: with changed, missing or added characters, or in the other alphabet of base64. */
  const tampered = fc.oneof(
    fc
      .tuple(id, fc.nat(50), fc.nat(3), fc.string({ maxLength: 3 }))
      .map(([text, at, cut, put]) => text.slice(0, at) + put + text.slice(at + cut)),
    id.map((text) => `${text}=`),
    id.map((text) => Buffer.from(text, 'base64url').toString('base64')),
    bytes(30, 38).map(base64url),
    bytes(32, 32).map((ids) => base64url([1, 1, ...ids])),
    fc.string({ unit: 'binary' }),
  );

  test('has exactly one accepted spelling', () => {
    fc.assert(
      fc.property(tampered, (text) => {
        const named = decodeNodeId(text);
        expect(named === undefined ? text : encodeNodeId(named)).toBe(text);
      }),
      { numRuns: 200 },
    );
  });
});

const LOOK_UP = `query ($channel: UUID!, $externalId: String!) {
  payment(channel: $channel, externalId: $externalId) { ... on PaymentResource { transactionId externalId } }
}`;

test('A payment is found by its external id, whatever characters the id contains', async () => {
  const hostile = fc.string({ unit: fc.constantFrom(...' &=+%#?/\\"\'<>;,\u00a0éЖ中😀\ufeff٣') });
  const sandbox = await testSandbox();
  const client = await testGateway(sandbox.url);
  const externalIds = fc
    .oneof(fc.string({ unit: 'grapheme', minLength: 1 }), hostile)
    .filter((text) => isPrintable(text) && text.trim() !== '' && text.length <= 255);
  await fc.assert(
    fc.asyncProperty(externalIds, async (externalId) => {
      const input = { ...redirectCall('CARD').input, idempotencyKey: externalId, externalId };
      const created = await sendCall(client, { mutation: 'createPayment', input });
      expect(created.errors).toBeUndefined();
      const transactionId = created.result?.payment?.transactionId;
      const found = await client.request(LOOK_UP, { channel: CHANNEL, externalId });
      expect(found.data).toEqual({ payment: { transactionId, externalId } });
    }),
    { numRuns: 30 },
  );
});
