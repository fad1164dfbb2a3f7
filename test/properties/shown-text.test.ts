import fc from 'fast-check';
import { remover } from '../../src/datasources/service/echoes';
import { holdsSchemeNumber, passesLuhn } from '../../src/schema/card-numbers';
import { hideNumbers, readFreeFields } from '../../src/schema/shown-text';

const digits = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength, maxLength });

const withCheckDigit = (payload: string): string =>
  [...'0123456789'].map((last) => payload + last).find(passesLuhn) ?? '';

const cardNumber = digits(11, 18).map(withCheckDigit);
const visa = digits(14, 14).map((payload) => withCheckDigit(`4${payload}`));
const marks = fc.constantFrom('', ' ', '-', '.', '_', '/', ' - ', '\u00a0', '  ');
const grouped = (number: fc.Arbitrary<string>) =>
  fc.tuple(number, marks, fc.integer({ min: 1, max: 7 })).map(([text, gap, size]) => ({
    number: text,
    written: (text.match(new RegExp(`.{1,${size}}`, 'g')) ?? []).join(gap),
  }));
/** Without digits of any kind: ㊷ is 42. */
const words = fc
  .string({ unit: 'grapheme', maxLength: 40 })
  .map((text) => text.normalize('NFKC').replace(/\p{N}/gu, ''));

test('no card number is left in a free text, whatever stands around it, and the words around it stay', () => {
  fc.assert(
    fc.property(words, grouped(cardNumber), words, (before, { number, written }, after) => {
      const shown = hideNumbers(`${before}~${written}~${after}`);
      expect(shown.replace(/\D/g, '')).not.toContain(number);
      expect(shown).toBe(`${before}~[redacted]~${after}`);
    }),
    { numRuns: 500 },
  );
});

test('a free text without twelve digits stays as it is', () => {
  const few = fc
    .string({ unit: 'grapheme' })
    .filter((text) => text.replace(/\D/g, '').length < 12 && !/eyJ|pgk_|b(earer|asic)\s/i.test(text));
  fc.assert(fc.property(few, (text) => expect(hideNumbers(text)).toBe(text)));
});

test('no card number is left in the fields of a method that is not known, in names neither', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), grouped(cardNumber), (json, { number, written }) => {
      const fields = {
        note: written,
        [written]: 1,
        list: [{ [`a ${written}`]: [written] }],
        json: JSON.parse(json) as unknown,
      };
      const shown = JSON.stringify(readFreeFields(fields));
      expect(shown).not.toContain(written);
      expect(shown.replace(/\D/g, '')).not.toContain(number);
    }),
  );
});

test('the card number that was sent is removed however it is grouped, also where any number may stand', () => {
  fc.assert(
    fc.property(digits(0, 9), grouped(cardNumber), digits(0, 9), (before, { number, written }, after) => {
      const shown = remover({ secrets: [number] })(`${before}${written}${after}`);
      expect(shown.replace(/\D/g, '')).not.toContain(number);
    }),
  );
});

test('the security code that was sent is removed where it stands alone, and is no part of anything else', () => {
  const remove = remover({ secrets: ['737'] });
  const removed = [
    '737',
    'CVC 737',
    'cvv:737',
    'CVC737',
    '(737)',
    '7 3 7',
    '7-3-7',
    '"737"',
    '737 is wrong',
    'a=737&b=1',
  ];
  for (const text of removed) expect(remove(text)).not.toMatch(/7\W?3\W?7/);
  const kept = [
    '17370',
    '737.00',
    '10.737',
    '****737',
    'order737',
    '737a',
    '2024-05-31T09:12:45.123737+00:00',
    'a-b',
  ];
  for (const text of kept) expect(remove(text)).toBe(text);
});

test('names that clients choose are not taken for numbers of cards', () => {
  const honest = fc.oneof(
    fc.uuid(),
    fc
      .date({ min: new Date('2020-01-01'), max: new Date('2090-01-01'), noInvalidDate: true })
      .map((day) => `order-${day.toISOString().replace(/\D/g, '')}`),
    fc.integer({ min: 1.5e12, max: 3e12 }).map(String),
    fc.nat(999_999_999).map((count) => `INV-2026-${count}`),
    digits(1, 11),
  );
  fc.assert(
    fc.property(honest, (name) => expect(holdsSchemeNumber(name)).toBe(false)),
    { numRuns: 2000 },
  );
});

test('numbers that card schemes give out are recognised in names, in any spelling', () => {
  const known = [
    '378282246310005',
    '6011111111111117',
    '3530111333300000',
    '6200000000000005',
    '2223003122003222',
    '30569309025904',
  ];
  for (const number of known) expect(holdsSchemeNumber(`order-${number}`)).toBe(true);
  fc.assert(
    fc.property(words, grouped(visa), words, (before, { written }, after) =>
      expect(holdsSchemeNumber(`${before}~${written}~${after}`)).toBe(true),
    ),
  );
});
