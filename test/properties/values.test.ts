import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { lookupQuery } from '../../src/datasources/payment-service/client';
import { Signer } from '../../src/datasources/payment-service/http/signature';
import { decodeNodeId, encodeNodeId, type NodeRef } from '../../src/schema/node';
import { isPrintable } from '../../src/shared/text';
import { normalizeDecimal } from '../../src/schema/scalars';
import { Secret } from '../../src/shared/secret';
import { CHANNEL, testGateway, testSandbox } from '../support/gateway';
import { sendCall, redirectCall } from '../support/calls';
import { digits } from './fixtures/canaries';

describe('A Decimal', () => {
  /** Reference implementation of Decimal. Returns the amount in hundredths; undefined if it is invalid. */
  function hundredths(text: string): bigint | undefined {
    const parts = text.split('.');
    const [whole = '', fraction] = parts;
    const digitsOnly = [...parts.join('')].every((character) => '0123456789'.includes(character));
    const wholeFits = whole.length >= 1 && whole.length <= 15;
    const fractionFits = fraction === undefined || fraction.length === 1 || fraction.length === 2;
    if (parts.length > 2 || !digitsOnly || !wholeFits || !fractionFits) return undefined;
    const scale = 10n ** BigInt(2 - (fraction?.length ?? 0));
    const amount = BigInt(whole + (fraction ?? '')) * scale;
    return amount > 0n ? amount : undefined;
  }

  /** Decimals and near misses: too long, signed, spaced, with an exponent, in other digits. */
  const nearlyDecimal = fc
    .record({
      before: fc.constantFrom('', '', '', '', '-', '+', ' ', '0x', '.'),
      whole: fc.oneof(digits(1, 15), digits(0, 18)),
      fraction: fc.option(fc.oneof(digits(1, 2), digits(0, 4)), { nil: undefined }),
      after: fc.constantFrom('', '', '', '', 'e1', '\n', ' ', '.', ',5', '٣', '5\u0000'),
    })
    .map(({ before, whole, fraction, after }) => {
      return before + whole + (fraction === undefined ? '' : `.${fraction}`) + after;
    });

  const decimal = nearlyDecimal.filter((text) => hundredths(text) !== undefined);

  test('is accepted in the forms of the contract only', () => {
    fc.assert(
      fc.property(fc.oneof(nearlyDecimal, fc.string({ unit: 'binary' })), (text) => {
        expect(normalizeDecimal(text) !== undefined).toBe(hundredths(text) !== undefined);
      }),
      { numRuns: 200 },
    );
  });

  test('is sent with two decimals and the same value, whatever its form', () => {
    fc.assert(
      fc.property(decimal, (text) => {
        const normal = normalizeDecimal(text) ?? '';
        expect(normal).toMatch(/^(0|[1-9]\d{0,14})\.\d\d$/);
        expect(BigInt(normal.replace('.', ''))).toBe(hundredths(text));
        expect(normalizeDecimal(normal)).toBe(normal);
      }),
      { numRuns: 200 },
    );
  });
});

describe('A global id', () => {
  const uuid = fc.uuid();
  const ref: fc.Arbitrary<NodeRef> = fc.record({
    kind: fc.constantFrom('payment' as const, 'payout' as const),
    channel: uuid,
    transactionId: uuid,
  });

  test('decodes to its kind, channel and transaction, in any letter case', () => {
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
  const splice = (text: string, place: number, cut: number, put: string) => {
    const at = place % (text.length + 1);
    return text.slice(0, at) + put + text.slice(at + cut);
  };

  /** Tampered ids: with changed, missing or added characters, or in the other alphabet of base64. */
  const tampered = fc.oneof(
    fc.tuple(id, fc.nat(), fc.nat(3), fc.string({ maxLength: 3 })).map((parts) => splice(...parts)),
    id.map((text) => `${text}=`),
    id.map((text) => Buffer.from(text, 'base64url').toString('base64')),
    fc.uint8Array({ minLength: 30, maxLength: 38 }).map((bytes) => Buffer.from(bytes).toString('base64url')),
    fc
      .uint8Array({ minLength: 32, maxLength: 32 })
      .map((bytes) => Buffer.from([1, 1, ...bytes]).toString('base64url')),
    fc.string({ unit: 'binary' }),
  );

  test('is canonical: any other text is refused', () => {
    fc.assert(
      fc.property(tampered, (text) => {
        const named = decodeNodeId(text);
        expect(named === undefined ? text : encodeNodeId(named)).toBe(text);
      }),
      { numRuns: 200 },
    );
  });
});

describe('A request to the service', () => {
  /** Decodes a query string; throws on ambiguity: unescaped characters, "+", broken escapes. */
  function strictlyDecoded(query: string): [string, string][] {
    const decoded = (text: string): string => {
      if (!/^(?:[A-Za-z0-9\-._~!*'()]|%[0-9A-F]{2})*$/.test(text))
        throw new Error('A character is not escaped.');
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

  test('is signed with the HMAC of timestamp and data', () => {
    const key = fc.string({ unit: 'binary', minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(key, fc.oneof(anyText, hostile), moment, (secret, data, nowMs) => {
        const seconds = String((nowMs - (nowMs % 1000)) / 1000);
        expect(new Signer(new Secret('key'), new Secret(secret)).headers(data, nowMs)).toEqual({
          'x-api-key': 'key',
          'x-timestamp': seconds,
          'x-signature': createHmac('sha256', secret)
            .update(seconds + data)
            .digest('hex'),
        });
      }),
      { numRuns: 200 },
    );
  });

  test('has a query string that strict and lenient parsers decode to the same values', () => {
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
      { numRuns: 200 },
    );
  });

  const LOOK_UP = `query ($channel: UUID!, $externalId: String!) {
    payment(channel: $channel, externalId: $externalId) { ... on PaymentResource { transactionId externalId } }
  }`;

  test('carries any external id unchanged, so that its payment is found', async () => {
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
});
