import fc from 'fast-check';
import { decodeNodeId, encodeNodeId, type NodeRef } from '../../src/schema/node';

const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length });

/** Any UUID, whatever its version: the service says no more of its ids than that they are UUIDs. */
const uuid = fc.tuple(hex(8), hex(4), hex(4), hex(4), hex(12)).map((parts) => parts.join('-'));
const ref: fc.Arbitrary<NodeRef> = fc.record({
  kind: fc.constantFrom('payment' as const, 'payout' as const),
  channel: uuid,
  transactionId: uuid,
});

test('an id says kind, channel and transaction again', () => {
  fc.assert(fc.property(ref, (one) => expect(decodeNodeId(encodeNodeId(one))).toEqual(one)));
});

test('the same transaction has one id, in whatever case its parts are written', () => {
  fc.assert(
    fc.property(ref, ({ kind, channel, transactionId }) => {
      const shouted = {
        kind,
        channel: channel.toUpperCase(),
        transactionId: transactionId.toUpperCase(),
      };
      expect(encodeNodeId(shouted)).toBe(encodeNodeId({ kind, channel, transactionId }));
    }),
  );
});

test('different transactions have different ids', () => {
  fc.assert(
    fc.property(ref, ref, (one, other) => {
      const same = JSON.stringify(one) === JSON.stringify(other);
      expect(encodeNodeId(one) === encodeNodeId(other)).toBe(same);
      const otherKind = { ...one, kind: one.kind === 'payment' ? ('payout' as const) : ('payment' as const) };
      expect(encodeNodeId(otherKind)).not.toBe(encodeNodeId(one));
    }),
  );
});

const id = ref.map(encodeNodeId);
const splice = (text: string, place: number, cut: number, put: string) => {
  const at = place % (text.length + 1);
  return text.slice(0, at) + put + text.slice(at + cut);
};

/** Ids as a caller may spoil them: a letter changed, cut off, padded, in the other alphabet of base64. */
const spoilt = fc.oneof(
  fc.tuple(id, fc.nat(), fc.nat(3), fc.string({ maxLength: 3 })).map((parts) => splice(...parts)),
  id.map((text) => `${text}=`),
  id.map((text) => Buffer.from(text, 'base64url').toString('base64')),
  fc.uint8Array({ minLength: 30, maxLength: 38 }).map((bytes) => Buffer.from(bytes).toString('base64url')),
  fc
    .uint8Array({ minLength: 32, maxLength: 32 })
    .map((bytes) => Buffer.from([1, 1, ...bytes]).toString('base64url')),
  fc.string({ unit: 'binary' }),
);

test('any other text is no id: nothing has two ids', () => {
  fc.assert(
    fc.property(spoilt, (text) => {
      const named = decodeNodeId(text);
      expect(named === undefined ? text : encodeNodeId(named)).toBe(text);
    }),
    { numRuns: 2000 },
  );
});

test('an id with anything before or behind it is refused', () => {
  fc.assert(
    fc.property(id, fc.string({ minLength: 1, maxLength: 3 }), (text, more) => {
      expect([decodeNodeId(text + more), decodeNodeId(more + text)]).toEqual([undefined, undefined]);
    }),
  );
});
