import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { redactForAudit } from '../../src/redaction/audit';
import { createRedactor } from '../../src/redaction/service-response';
import { fieldError } from '../../src/core/validation/validate-input';
import { findMisplacedSecrets } from '../../src/core/validation/validate-create';
import { containsCardNumber, containsKnownSchemePan } from '../../src/redaction/pan';
import { findInDecodings } from '../../src/redaction/decodings';
import {
  redactText,
  containsAuthToken,
  readUndocumentedFields,
  readServiceMessage,
} from '../../src/redaction/text';
import { REDACTED } from '../../src/shared/secret';
import { cardNumber, digits, withCheckDigit } from './fixtures/canaries';

const visa = digits(14, 14).map((payload) => withCheckDigit(`4${payload}`));
const marks = fc.constantFrom('', ' ', '-', '.', '_', '/', ' - ', '\u00a0', '  ');
const inGroups = (text: string, size: number): string[] => text.match(new RegExp(`.{1,${size}}`, 'g')) ?? [];
const grouped = (numbers: fc.Arbitrary<string>) =>
  fc
    .tuple(numbers, marks, fc.integer({ min: 1, max: 7 }))
    .map(([number, gap, size]) => ({ number, written: inGroups(number, size).join(gap) }));
const METHOD = { inputField: 'card', type: 'card', secrets: [] };

test('A security code is removed only where it stands alone or after CVC', () => {
  const remove = createRedactor({ secrets: ['737'] });
  const removed = ['737', 'CVC 737', 'cvv:737', 'CVC737', '(737)', '7 3 7', '7-3-7', '"737"', 'a=737&b=1'];
  for (const text of removed) expect(remove(text)).not.toMatch(/7\W?3\W?7/);
  const kept = ['17370', '737.00', '10.737', '****737', 'order737', '737a'];
  for (const text of [...kept, '2026-05-31T09:12:45.123737+00:00']) expect(remove(text)).toBe(text);
});

test.each([
  ['a security code of four digits', '8351', 'CVV 8351, 8 3 5 1', 'CVV [redacted], [redacted]'],
  ['security codes that overlap', '333', '3-3-3-3', '[redacted]'],
  ['a card number between numbers', '4111111111111111', '99 4111-1111-1111-1111 00', '99 [redacted] 00'],
  ['a card number within a longer number', '4111111111111111', '9941111111111111110', '99[redacted]0'],
  ['two card numbers', '4111111111111111', '4111111111111111 4111 1111 1111 1111', '[redacted] [redacted]'],
])('Redaction of a secret of the request removes %s, and nothing else', (_what, secret, text, redacted) => {
  expect(createRedactor({ secrets: [secret] })(text)).toBe(redacted);
});

describe('A card number', () => {
  test('is found next to other numbers, such as its expiry date', () => {
    const beside = fc.integer({ min: 0, max: 9999 }).map(String);
    fc.assert(
      fc.property(beside, grouped(cardNumber), beside, (before, { written: text }, after) => {
        const texts = [`${before} ${text}`, `${text} ${after}`, `${before}-${text}-${after}`];
        expect(texts.map(containsCardNumber)).toEqual([true, true, true]);
      }),
    );
  });

  /** Texts without digits of any kind. This also excludes ㊷, which is normalised to 42. */
  const words = fc
    .string({ unit: 'grapheme', maxLength: 40 })
    .map((text) => text.normalize('NFKC').replace(/\p{N}/gu, ''));

  test('is redacted in a free text, and the words around it stay', () => {
    fc.assert(
      fc.property(words, grouped(cardNumber), words, (before, { number, written }, after) => {
        const shown = redactText(`${before}~${written}~${after}`);
        expect(shown.replace(/\D/g, '')).not.toContain(number);
        expect(shown).toBe(`${before}~[redacted]~${after}`);
      }),
      { numRuns: 150 },
    );
  });

  test('is redacted in the fields of an unknown payment method, and in their names', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 4 }), grouped(cardNumber), (json, { number, written }) => {
        const fields = {
          note: written,
          [written]: 1,
          list: [{ [`a ${written}`]: [written] }],
          json: JSON.parse(json) as unknown,
        };
        const shown = JSON.stringify(readUndocumentedFields(fields));
        expect(shown).not.toContain(written);
        expect(shown.replace(/\D/g, '')).not.toContain(number);
      }),
    );
  });

  test('of the request is removed from texts of the service, however its digits are grouped', () => {
    fc.assert(
      fc.property(digits(0, 9), grouped(cardNumber), digits(0, 9), (before, { number, written }, after) => {
        const shown = createRedactor({ secrets: [number] })(`${before}${written}${after}`);
        expect(shown.replace(/\D/g, '')).not.toContain(number);
      }),
    );
  });

  test('is not falsely detected in typical ids of clients', () => {
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
      fc.property(honest, (name) => expect(containsKnownSchemePan(name)).toBe(false)),
      { numRuns: 200 },
    );
  });

  test('of a known card scheme is found in an id, however its digits are grouped', () => {
    const known = ['378282246310005', '6011111111111117', '3530111333300000', '2223003122003222'];
    for (const number of known) expect(containsKnownSchemePan(`order-${number}`)).toBe(true);
    fc.assert(
      fc.property(words, grouped(visa), words, (before, { written }, after) =>
        expect(containsKnownSchemePan(`${before}~${written}~${after}`)).toBe(true),
      ),
    );
  });
});

type Encode = (character: string) => string;

const hex = (character: string): string => character.charCodeAt(0).toString(16);
const percent: Encode = (character) => `%${hex(character)}`;

/** Returns the encoding that writes digits in the script with this zero. */
const digitsFrom =
  (zero: number): Encode =>
  (character) =>
    /\d/.test(character) ? String.fromCodePoint(zero + Number(character)) : character;

const ENCODINGS: Record<string, Encode> = {
  'plain digits': (character) => character,
  'percent-encoding': percent,
  'percent-encoding whose percent sign is an HTML entity': (character) => `&percnt;${hex(character)}`,
  'JavaScript escapes whose backslash is an HTML entity': (character) => `&bsol;x${hex(character)}`,
  'double percent-encoding': (character) => percent(character).replace('%', '%25'),
  'decimal HTML entities': (character) => `&#${character.charCodeAt(0)};`,
  'hexadecimal HTML entities': (character) => `&#x${hex(character)};`,
  'double HTML entities': (character) => `&amp;#${character.charCodeAt(0)};`,
  'JSON escapes': (character) => `\\u00${hex(character)}`,
  'JavaScript escapes': (character) => `\\x${hex(character)}`,
  'JavaScript escapes with braces': (character) => `\\u{${hex(character)}}`,
  'obsolete URL escapes (u0034)': (character) => `%u00${hex(character)}`,
  'fullwidth digits': (character) => String.fromCodePoint(character.charCodeAt(0) + 0xfee0),
  'percent-encoded fullwidth digits': (character) =>
    encodeURIComponent(String.fromCodePoint(character.charCodeAt(0) + 0xfee0)),
};

const DIGITS: Record<string, Encode> = {
  'Arabic-Indic digits': digitsFrom(0x660),
  'Thai digits': digitsFrom(0xe50),
  'bold mathematical digits': digitsFrom(0x1d7ce),
  'circled digits': (digit) => (digit === '0' ? '\u24ea' : String.fromCodePoint(0x245f + Number(digit))),
  'digits with a keycap': (digit) => `${digit}\ufe0f\u20e3`,
};

const GAPS = [
  ...['', ...' +./-_,', '%20', '%2D', '%2520', '&nbsp;', '&#160;', '&#x2013;', '\\u00a0', '%E2%80%8B'],
  ...'\u00a0\u2007\u202f\u200b\u200d\ufeff\u00ad\u2010\u2013\u2212\u00b7',
  ...[' \u200b\u200c\u200d\u2060 ', '%C2%A0', '&zwnj;', '&thinsp;'],
];

const key = fc.string({ unit: fc.constantFrom(...'abcdefXYZ-_.0123456789'), minLength: 12, maxLength: 40 });

const written = (text: string, encode: readonly Encode[]): string =>
  [...text].map((character, place) => encode[place % encode.length]?.(character) ?? character).join('');

const all = { ...ENCODINGS, ...DIGITS };
const mixed = fc.array(fc.constantFrom(...Object.values(all)), { minLength: 1, maxLength: 6 });
const mixedOfAny = fc.array(fc.constantFrom(...Object.values(ENCODINGS)), { minLength: 1, maxLength: 6 });
const encodedGroups = fc
  .tuple(visa, mixed, fc.constantFrom(...GAPS), fc.integer({ min: 1, max: 6 }))
  .map(([number, encode, gap, size]) => ({
    number,
    text: inGroups(number, size)
      .map((group) => written(group, encode))
      .join(gap),
  }));

const HIDDEN = 'a~[redacted]~b';

const NUMBER = '4111111111111111';

/** Expects that this spelling of a card number is removed from free texts and from responses. */
function expectHidden(number: string, text: string): void {
  expect(redactText(`a~${text}~b`)).toBe(HIDDEN);
  expect(createRedactor({ secrets: [number] })(`a~${text}~b`)).toBe(HIDDEN);
  expect(containsKnownSchemePan(text)).toBe(true);
}

/** Returns a title for a separator; invisible and non-ASCII characters as code points. */
function titleOfGap(gap: string): string {
  if (gap === '') return 'without a separator';
  if (/^[!-~]$/.test(gap)) return `separated by "${gap}"`;
  if (/^[!-~]+$/.test(gap)) return `separated by the ${gap.length}-character text ${gap}`;
  const codePoints = [...gap].map((character) => character.codePointAt(0)!.toString(16).toUpperCase());
  return `separated by ${codePoints.map((code) => `U+${code.padStart(4, '0')}`).join(' ')}`;
}

describe('An encoded card number', () => {
  const SPELLINGS: [name: string, text: string][] = [
    ...Object.entries(all).map(([name, encode]): [string, string] => [name, written(NUMBER, [encode])]),
    ['characters that stand for two digits each', '\u32b6' + '\u246a'.repeat(7)],
    ['decimal HTML entities without semicolons', written(NUMBER, [(digit) => `&#${digit.charCodeAt(0)}`])],
    ['hexadecimal HTML entities without semicolons', written(NUMBER, [(digit) => `&#x${hex(digit)}`])],
    ...GAPS.map((gap): [string, string] => [`groups ${titleOfGap(gap)}`, inGroups(NUMBER, 4).join(gap)]),
  ];

  test.each(SPELLINGS)('is redacted when it is written as %s', (_name, text) => {
    expectHidden(NUMBER, text);
    expect(redactText(text)).toBe('[redacted]');
    expect(redactForAudit(text, 1000)).toBe('[redacted]');
  });

  test('is redacted in texts, and refused in ids and descriptions, in any mixture of encodings', () => {
    fc.assert(
      fc.property(encodedGroups, ({ number, text }) => {
        expectHidden(number, text);
        expect(JSON.stringify(readUndocumentedFields({ note: `x ${text}`, [text]: 1 }))).toBe(
          '{"note":"x [redacted]","[redacted]":1}',
        );
        const input = { idempotencyKey: `k-${text}`, externalId: text, description: `for ${text}` };
        const rules = findMisplacedSecrets(input, METHOD).map(({ path: [field], rule }) => [field, rule]);
        expect(rules).toEqual(Object.keys(input).map((field) => [field, 'noSecret']));
      }),
      { numRuns: 150 },
    );
  });
});

describe('An encoded secret', () => {
  test('of the gateway is removed in any mixture of encodings, from URLs too', () => {
    fc.assert(
      fc.property(key, mixedOfAny, (secret, encode) => {
        const remove = createRedactor({ credentials: [secret] });
        expect(remove(`a~${written(secret, encode)}~b`)).toBe(HIDDEN);
        expect(remove(`https://pay.example/?k=${written(secret, encode)}&x=1`)).toBe(
          'https://pay.example/?k=[redacted]&x=1',
        );
      }),
      { numRuns: 150 },
    );
  });

  test('of a caller is redacted in any mixture of encodings', () => {
    fc.assert(
      fc.property(mixedOfAny, (encode) => {
        for (const text of ['pgk_0123456789abcdef0123', 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln']) {
          expect(containsAuthToken(written(text, encode))).toBe(true);
          expect(redactText(`a~${written(text, encode)}~b`)).toBe(HIDDEN);
        }
      }),
    );
  });

  test('of 3 digits is removed, but the same digits are kept where they belong to escapes of other characters', () => {
    const remove = createRedactor({ secrets: ['737'] });
    expect(remove('a~%37%33%37~b')).toBe(HIDDEN);
    for (const text of ['%E2%97%37x', 'a%2F7370', '\\u0737']) expect(remove(text)).toBe(text);
  });
});

describe('A text without secrets', () => {
  const HONEST = [
    'upi://pay?pa=shop%40upi&pn=My%20Shop&am=100.00&cu=INR&tn=Order%2012&tr=202611220001',
    'https://shop.example/return?order=100%2B200&next=https%3A%2F%2Fshop.example%2Fa%3Fb%3D1&t=1763846400000',
    '00020101021226610014COM.GO-JEK.WWW01189360091432506272000210G250627200303UMI51440014ID.CO.QRIS.WWW',
    '+91 98765 43210',
    '2026-11-22T20:37:38.123456+00:00',
    '7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10',
    'IBAN DE89 3704 0044 0532 0130 00',
    'Müller & Söhne; 100 % sicher &amp; gut',
    'C:\\users\\u0041bc',
    'a.b.c',
    '50%25 off, order %2312',
  ];

  test.each(HONEST)('is not changed: %s', (text) => {
    expect(redactText(text)).toBe(text);
    expect(containsKnownSchemePan(text)).toBe(false);
    expect(createRedactor({ secrets: [NUMBER], credentials: ['sk_live_abcdef'] })(text)).toBe(text);
  });

  test('is not changed in any golden body', () => {
    const folder = path.join(__dirname, '../methods/golden');
    const texts: string[] = [];
    for (const file of readdirSync(folder))
      JSON.parse(readFileSync(path.join(folder, file), 'utf8'), (_name, value: unknown) => {
        if (typeof value === 'string') texts.push(value);
        return value;
      });
    expect(texts.length).toBeGreaterThan(300);
    const remove = createRedactor({ secrets: ['4000056655665556'], credentials: ['sk_live_abcdef'] });
    const changed = texts.filter((text) => /[%&\\]|[^ -~]/.test(text) && redactText(text) !== text);
    expect(changed).toEqual([]);
    expect(texts.filter((text) => remove(text) !== text)).toEqual([]);
  });
});

test('A UUID that contains a card number is refused as an idempotency key only if it has no letters or contains the card number of the request', () => {
  const faultsOf = (idempotencyKey: string, secrets: string[] = []) =>
    findMisplacedSecrets({ idempotencyKey }, { ...METHOD, secrets });
  const withLetters = '41111111-1111-1111-abcd-000000000000';
  const withoutLetters = '41111111-1111-1111-0000-000000000000';
  expect([...faultsOf(withLetters), ...faultsOf(`order_${withLetters}`)]).toEqual([]);
  expect(faultsOf(withoutLetters)).toHaveLength(1);
  expect(faultsOf(withLetters, [NUMBER])).toHaveLength(1);
});

const MARKS = `a${'\u0315'.repeat(24_000)}${'\u0316'.repeat(24_000)}`;
const WORDS = '\ufdfa'.repeat(32_000);

describe('The search for secrets in a long text', () => {
  test('takes linear time, because it normalises one character at a time', () => {
    const normalize = jest.spyOn(String.prototype, 'normalize');
    const lengths: number[] = [];
    findInDecodings(MARKS, ({ length }) => (lengths.push(length), []));
    expect(Math.max(...normalize.mock.contexts.map((text) => String(text).length))).toBeLessThanOrEqual(2);
    normalize.mockRestore();
    expect(lengths).toEqual([MARKS.length, 1]);
    expect(containsCardNumber('1 '.repeat(30_000))).toBe(false);
  });

  test('removes a card number that is cut off at the end of a long message', () => {
    for (const pan of ['4111111111111111', '4111 1111 1111 1111', '4111.1111.1111.1111'])
      expect(readServiceMessage(`${'x '.repeat(495)}${pan} is invalid`)).not.toContain('411');
  });

  test('finds a secret whose characters carry combining marks', () => {
    const secret = 'sk_live_abcdefgh';
    const written = [...secret].map((character) => `${character}\u0315\u0316`).join('');
    expect(createRedactor({ credentials: [secret] })(`${WORDS} ${written} ${WORDS}`)).toBe(
      `${WORDS} ${REDACTED} ${WORDS}`,
    );
  });
});

test('The search for secrets skips a field that another validation rule has already refused', () => {
  const input = { idempotencyKey: `4111111111111111${MARKS}`, description: '4111 1111 1111 1111' };
  const faults = findMisplacedSecrets(input, METHOD, [fieldError(['idempotencyKey'], 'maxLength', '')]);
  expect(faults.map(({ path }) => path)).toEqual([['description']]);
});
