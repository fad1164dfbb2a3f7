import fc from 'fast-check';
import { holdsCardNumber, passesLuhn } from '../../src/schema/card-numbers';

/** ISO/IEC 7812-1, by table: what each digit counts for in a doubled place. */
const DOUBLED = [0, 2, 4, 6, 8, 1, 3, 5, 7, 9];

function checkDigitOf(payload: string): number {
  const places = [...payload].reverse().map(Number);
  const sum = places.reduce((total, digit, at) => total + (at % 2 === 0 ? (DOUBLED[digit] ?? 0) : digit), 0);
  return (10 - (sum % 10)) % 10;
}

const digits = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength, maxLength });
const cardNumber = digits(11, 18).map((payload) => payload + String(checkDigitOf(payload)));

test('a number passes exactly when its last digit is the check digit of the rest', () => {
  fc.assert(
    fc.property(digits(11, 18), fc.nat(9), (payload, last) => {
      expect(passesLuhn(payload + String(last))).toBe(last === checkDigitOf(payload));
    }),
    { numRuns: 1000 },
  );
});

test('every mistake in a single digit is noticed', () => {
  fc.assert(
    fc.property(cardNumber, fc.nat(), fc.integer({ min: 1, max: 9 }), (number, place, shift) => {
      const at = place % number.length;
      const wrong = (Number(number[at]) + shift) % 10;
      expect(passesLuhn(number.slice(0, at) + String(wrong) + number.slice(at + 1))).toBe(false);
    }),
  );
});

const withoutDigits = fc.string({ unit: 'grapheme' }).map((text) => text.replace(/\p{Nd}/gu, ''));
const grouped = fc
  .tuple(cardNumber, fc.constantFrom('', ' ', '-'), fc.integer({ min: 1, max: 6 }))
  .map(([number, gap, size]) => (number.match(new RegExp(`.{1,${size}}`, 'g')) ?? []).join(gap));

test('a card number is recognised in any text, together or in groups', () => {
  fc.assert(
    fc.property(withoutDigits, grouped, withoutDigits, (before, number, after) => {
      expect(holdsCardNumber(before + number + after)).toBe(true);
    }),
  );
});

test('a card number is recognised beside other numbers, such as its expiry date', () => {
  const beside = fc.integer({ min: 0, max: 9999 }).map(String);
  fc.assert(
    fc.property(beside, grouped, beside, (before, number, after) => {
      const texts = [`${before} ${number}`, `${number} ${after}`, `${before}-${number}-${after}`];
      expect(texts.map(holdsCardNumber)).toEqual([true, true, true]);
    }),
  );
});

test('the longest body is looked through in a moment, however many numbers it holds', () => {
  const startedAt = performance.now();
  expect(holdsCardNumber('1 '.repeat(30_000))).toBe(false);
  expect(performance.now() - startedAt).toBeLessThan(10_000);
});
