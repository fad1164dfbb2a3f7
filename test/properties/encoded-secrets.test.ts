import fc from 'fast-check';
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { remover } from '../../src/datasources/service/echoes';
import { keptSecretFaults } from '../../src/operations/kept-secret-faults';
import { holdsSchemeNumber, passesLuhn } from '../../src/schema/card-numbers';
import { hideNumbers, holdsToken, readFreeFields } from '../../src/schema/shown-text';
import { scrubbed } from '../../src/audit/scrub';

/** Card numbers and secrets, written in every way in which a reader or a browser gets them back. */

type Encode = (character: string) => string;

const hex = (character: string): string => character.charCodeAt(0).toString(16);
const percent: Encode = (character) => `%${hex(character)}`;
const escaped = (text: string): string => [...text].map(percent).join('');

/** In another script: the digits from that zero on; anything else as it is. */
const digitsFrom =
  (zero: number): Encode =>
  (character) =>
    /\d/.test(character) ? String.fromCodePoint(zero + Number(character)) : character;

const ENCODINGS: Record<string, Encode> = {
  plain: (character) => character,
  percent,
  'percent in capitals': (character) => percent(character).toUpperCase(),
  'percent twice': (character) => percent(character).replace('%', '%25'),
  'percent of percent': (character) => escaped(percent(character)),
  'percent three times': (character) => escaped(percent(character)).replaceAll('%', '%25'),
  'an entity': (character) => `&#${character.charCodeAt(0)};`,
  'an entity with zeros': (character) => `&#00${character.charCodeAt(0)};`,
  'an entity in hex': (character) => `&#x${hex(character)};`,
  'an entity in capitals': (character) => `&#X${hex(character).toUpperCase()};`,
  'an entity of an entity': (character) => `&amp;#${character.charCodeAt(0)};`,
  'an entity in percent': (character) => escaped(`&#${character.charCodeAt(0)};`),
  'an escape of JSON': (character) => `\\u00${hex(character)}`,
  'an escape within JSON in JSON': (character) => `\\\\u00${hex(character)}`.slice(1),
  'an escape of JavaScript': (character) => `\\x${hex(character)}`,
  'an escape with braces': (character) => `\\u{${hex(character)}}`,
  'an old escape of URLs': (character) => `%u00${hex(character)}`,
  fullwidth: (character) => String.fromCodePoint(character.charCodeAt(0) + 0xfee0),
  'fullwidth in percent': (character) =>
    encodeURIComponent(String.fromCodePoint(character.charCodeAt(0) + 0xfee0)),
};

/** Writings of digits only. */
const DIGITS: Record<string, Encode> = {
  'Arabic-Indic': digitsFrom(0x660),
  Persian: digitsFrom(0x6f0),
  Devanagari: digitsFrom(0x966),
  Thai: digitsFrom(0xe50),
  'bold mathematical': digitsFrom(0x1d7ce),
  'monospaced mathematical': digitsFrom(0x1d7f6),
  circled: (digit) => (digit === '0' ? '\u24ea' : String.fromCodePoint(0x245f + Number(digit))),
  superscript: (digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)] ?? digit,
  'with a keycap': (digit) => `${digit}\ufe0f\u20e3`,
};

const GAPS = [
  ...[
    '',
    ' ',
    '+',
    '.',
    '/',
    '-',
    '_',
    ',',
    '%20',
    '%2D',
    '%2520',
    '&nbsp;',
    '&#160;',
    '&#x2013;',
    '\\u00a0',
  ],
  ...[
    '\u00a0',
    '\u2007',
    '\u202f',
    '\u200b',
    '\u200d',
    '\ufeff',
    '\u00ad',
    '\u2010',
    '\u2013',
    '\u2212',
    '\u00b7',
  ],
  ...['%E2%80%8B', ' \u200b\u200c\u200d\u2060 ', '%C2%A0', '&zwnj;', '&thinsp;'],
];

const digits = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: length, maxLength: length });
const withCheckDigit = (payload: string): string =>
  [...'0123456789'].map((last) => payload + last).find(passesLuhn) ?? '';
const visa = digits(14).map((payload) => withCheckDigit(`4${payload}`));
const key = fc.string({ unit: fc.constantFrom(...'abcdefXYZ-_.0123456789'), minLength: 12, maxLength: 40 });

const written = (text: string, encode: readonly Encode[]): string =>
  [...text].map((character, place) => encode[place % encode.length]?.(character) ?? character).join('');

const all = { ...ENCODINGS, ...DIGITS };
const mixed = fc.array(fc.constantFrom(...Object.values(all)), { minLength: 1, maxLength: 6 });
const mixedOfAny = fc.array(fc.constantFrom(...Object.values(ENCODINGS)), { minLength: 1, maxLength: 6 });
const grouped = fc
  .tuple(visa, mixed, fc.constantFrom(...GAPS), fc.integer({ min: 1, max: 6 }))
  .map(([number, encode, gap, size]) => ({
    number,
    text: (number.match(new RegExp(`.{1,${size}}`, 'g')) ?? [])
      .map((group) => written(group, encode))
      .join(gap),
  }));

const HIDDEN = 'a~[redacted]~b';

describe('A card number', () => {
  test.each(Object.entries(all))('is hidden when it is written as %s', (_name, encode) => {
    const number = '4111111111111111';
    const text = written(number, [encode]);
    expect(hideNumbers(`a~${text}~b`)).toBe(HIDDEN);
    expect(remover({ secrets: [number] })(`a~${text}~b`)).toBe(HIDDEN);
    expect(holdsSchemeNumber(text)).toBe(true);
    expect(scrubbed(text, 1000)).toBe('[hidden]');
  });

  test.each([
    ['&#52&#49&#49&#49&#49&#49&#49&#49&#49&#49&#49&#49&#49&#49&#49&#49', 'entities'],
    ['&#x34&#x31&#x31&#x31&#x31&#x31&#x31&#x31&#x31&#x31&#x31&#x31&#x31&#x31&#x31&#x31', 'entities in hex'],
  ])('is hidden in %s (%s that are not ended)', (text) => {
    expect(hideNumbers(`a~${text}~b`)).toBe(HIDDEN);
  });

  test.each(GAPS)('is hidden with %j between its groups', (gap) => {
    const text = ['4111', '1111', '1111', '1111'].join(gap);
    expect(hideNumbers(`a~${text}~b`)).toBe(HIDDEN);
    expect(remover({ secrets: ['4111111111111111'] })(`a~${text}~b`)).toBe(HIDDEN);
    expect(holdsSchemeNumber(text)).toBe(true);
  });

  test('is hidden in any mixture of these, and the rest of the text stays', () => {
    fc.assert(
      fc.property(grouped, ({ number, text }) => {
        expect(hideNumbers(`a~${text}~b`)).toBe(HIDDEN);
        expect(remover({ secrets: [number] })(`a~${text}~b`)).toBe(HIDDEN);
        expect(JSON.stringify(readFreeFields({ note: `x ${text}`, [text]: 1 }))).toBe(
          '{"note":"x [redacted]","[redacted]":1}',
        );
      }),
      { numRuns: 500 },
    );
  });

  test('is refused in what is kept, in any mixture of these', () => {
    const method = { arm: 'card', type: 'card', secrets: [] };
    fc.assert(
      fc.property(grouped, ({ text }) => {
        const input = { idempotencyKey: `k-${text}`, externalId: text, description: `for ${text}` };
        const rules = keptSecretFaults(input, method).map(({ path: [field], rule }) => [field, rule]);
        expect(rules).toEqual(Object.keys(input).map((field) => [field, 'noSecret']));
      }),
    );
  });
});

describe('A key of the gateway', () => {
  test('is removed in any mixture of these, from addresses too', () => {
    fc.assert(
      fc.property(key, mixedOfAny, (secret, encode) => {
        const remove = remover({ credentials: [secret] });
        expect(remove(`a~${written(secret, encode)}~b`)).toBe(HIDDEN);
        expect(remove(`https://pay.example/?k=${written(secret, encode)}&x=1`)).toBe(
          'https://pay.example/?k=[redacted]&x=1',
        );
      }),
      { numRuns: 500 },
    );
  });

  test('of a client, and a token, are hidden in any of these', () => {
    fc.assert(
      fc.property(mixedOfAny, (encode) => {
        for (const text of ['pgk_0123456789abcdef0123', 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln']) {
          expect(holdsToken(written(text, encode))).toBe(true);
          expect(hideNumbers(`a~${written(text, encode)}~b`)).toBe(HIDDEN);
        }
      }),
    );
  });

  test('of 4 digits or fewer is not looked for inside of encoded characters', () => {
    const remove = remover({ secrets: ['737'] });
    expect(remove('a~%37%33%37~b')).toBe(HIDDEN);
    for (const text of ['%E2%97%37x', 'a%2F7370', '\\u0737']) expect(remove(text)).toBe(text);
  });
});

/** Every text of a JSON value. */
const textsIn = (value: unknown): string[] => {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
};

describe('What is no secret stays', () => {
  const HONEST = [
    'upi://pay?pa=shop%40upi&pn=My%20Shop&am=100.00&cu=INR&tn=Order%2012&tr=202611220001',
    'https://shop.example/return?order=100%2B200&next=https%3A%2F%2Fshop.example%2Fa%3Fb%3D1&t=1763846400000',
    '00020101021226610014COM.GO-JEK.WWW01189360091432506272000210G250627200303UMI51440014ID.CO.QRIS.WWW',
    '+91 98765 43210',
    '2026-11-22T20:37:38.123456+00:00',
    '1763846400000',
    '7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10',
    'IBAN DE89 3704 0044 0532 0130 00',
    'Müller & Söhne; 100 % sicher &amp; gut',
    'C:\\users\\u0041bc',
    '٢٠٢٦/١١/٢٢ ١٢:٣٠',
    '株式会社 第12号',
    'a.b.c',
    '50%25 off, order %2312',
  ];

  test.each(HONEST)('%s', (text) => {
    expect(hideNumbers(text)).toBe(text);
    expect(holdsSchemeNumber(text)).toBe(false);
    expect(remover({ secrets: ['4111111111111111'], credentials: ['sk_live_abcdef'] })(text)).toBe(text);
  });

  test('in all golden bodies of the methods: decoding hides nothing that was shown before', () => {
    const folder = path.join(__dirname, '../methods/golden');
    const texts = readdirSync(folder).flatMap((file) =>
      textsIn(JSON.parse(readFileSync(path.join(folder, file), 'utf8'))),
    );
    expect(texts.length).toBeGreaterThan(300);
    const remove = remover({ secrets: ['4000056655665556'], credentials: ['sk_live_abcdef'] });
    const changed = texts.filter((text) => /[%&\\]|[^ -~]/.test(text) && hideNumbers(text) !== text);
    expect(changed).toEqual([]);
    expect(texts.filter((text) => remove(text) !== text)).toEqual([]);
  });

  test('in addresses and UPI links of every kind', () => {
    const part = fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => text.toWellFormed());
    const amount = fc.integer({ min: 1, max: 9_999_999 }).map((cents) => (cents / 100).toFixed(2));
    const link = fc
      .tuple(part, part, amount, fc.uuid(), fc.integer({ min: 1.6e12, max: 2e12 }))
      .map(([pa, pn, am, tr, t]) => `upi://pay?${new URLSearchParams({ pa, pn, am, tr, t: String(t) })}`)
      .filter((text) => !/eyJ|pgk_|bearer|basic/i.test(text) && !/\d{10}/.test(text.split('&am=')[0] ?? ''));
    const remove = remover({ secrets: ['4111111111111111'], credentials: ['sk_live_abcdef'] });
    fc.assert(
      fc.property(link, (text) => {
        expect(remove(text)).toBe(text);
        expect(holdsSchemeNumber(text)).toBe(false);
      }),
      { numRuns: 500 },
    );
  });
});
