import fc from 'fast-check';
import { normalizeDecimal } from '../../src/schema/scalars';

/** What the contract says of a Decimal, read sign by sign: the amount in hundredths, or undefined. */
function hundredths(text: string): bigint | undefined {
  const parts = text.split('.');
  const [whole = '', fraction] = parts;
  const digitsOnly = [...parts.join('')].every((sign) => '0123456789'.includes(sign));
  const wholeFits = whole.length >= 1 && whole.length <= 15;
  const fractionFits = fraction === undefined || fraction.length === 1 || fraction.length === 2;
  if (parts.length > 2 || !digitsOnly || !wholeFits || !fractionFits) return undefined;
  const scale = 10n ** BigInt(2 - (fraction?.length ?? 0));
  const amount = BigInt(whole + (fraction ?? '')) * scale;
  return amount > 0n ? amount : undefined;
}

const digits = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength, maxLength });

/** Decimals, and what is nearly one: too long, signed, spaced, with an exponent, in other digits. */
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

test('exactly the decimals of the contract are taken, everything else is refused', () => {
  fc.assert(
    fc.property(fc.oneof(nearlyDecimal, fc.string({ unit: 'binary' })), (text) => {
      expect(normalizeDecimal(text) !== undefined).toBe(hundredths(text) !== undefined);
    }),
    { numRuns: 2000 },
  );
});

test('an amount is never changed: it is sent to the cent as it was given, with two decimals', () => {
  fc.assert(
    fc.property(decimal, (text) => {
      const normal = normalizeDecimal(text) ?? '';
      expect(normal).toMatch(/^(0|[1-9]\d{0,14})\.\d\d$/);
      expect(BigInt(normal.replace('.', ''))).toBe(hundredths(text));
    }),
    { numRuns: 1000 },
  );
});

test('an amount that is normal already stays as it is', () => {
  fc.assert(
    fc.property(decimal, (text) => {
      const normal = normalizeDecimal(text) ?? '';
      expect(normalizeDecimal(normal)).toBe(normal);
    }),
  );
});
