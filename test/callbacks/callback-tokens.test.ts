import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { CallbackTokens } from '../../src/core/callbacks/callback-tokens';

const SECRET = 'a secret that all instances share';
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

const tokens = new CallbackTokens(SECRET);

const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length });

const attemptId = fc.tuple(hex(8), hex(4), hex(4), hex(4), hex(12)).map((parts) => parts.join('-'));
const token = attemptId.map((id) => tokens.of(id));

const bytesOf = (text: string): Buffer => Buffer.from(text, 'base64url');
const withCharacter = (text: string, place: number, character: string): string =>
  text.slice(0, place) + character + text.slice(place + 1);

describe('The token of an attempt', () => {
  test('has 43 URL-safe characters, and identifies its attempt in every instance with the secret', () => {
    fc.assert(
      fc.property(attemptId, fc.string(), (id, secret) => {
        const [one, other] = [new CallbackTokens(secret), new CallbackTokens(secret)];
        expect(one.of(id)).toMatch(/^[A-Za-z0-9_-]{43}$/);
        expect([other.of(id), other.read(one.of(id))]).toEqual([one.of(id), id]);
      }),
    );
  });

  test('is a fixed function of id and secret, so that tokens stay valid after an upgrade', () => {
    // The token was computed with HKDF and HMAC by Python's hmac and hashlib.
    const given = '-1L4hO-VlXfsA4IPYJxaMfh7V7aMX__r9lqvtFZh4M0';
    const id = '0f8fad5b-d9cb-469f-a165-70867728950e';
    expect([tokens.of(id), tokens.read(given)]).toEqual([given, id]);
  });

  test('shares neither half with the token of an id that differs in one digit, and no part with the id', () => {
    const ids = Array.from({ length: 2000 }, () => randomUUID());
    expect(new Set(ids.map((id) => tokens.of(id))).size).toBe(ids.length);
    fc.assert(
      fc.property(attemptId, fc.nat(31), fc.integer({ min: 1, max: 15 }), (id, place, change) => {
        const digits = id.replaceAll('-', '');
        const digit = (Number.parseInt(digits[place] ?? '', 16) ^ change).toString(16);
        const near = withCharacter(digits, place, digit).replace(
          /^(.{8})(.{4})(.{4})(.{4})(.{12})$/,
          '$1-$2-$3-$4-$5',
        );
        const [one, other] = [bytesOf(tokens.of(id)), bytesOf(tokens.of(near))];
        expect(one.subarray(0, 16)).not.toEqual(other.subarray(0, 16));
        expect(one.subarray(16)).not.toEqual(other.subarray(16));
        const hidden = Buffer.from(digits, 'hex');
        for (let start = 0; start + 6 <= hidden.length; start += 1)
          expect(one.includes(hidden.subarray(start, start + 6))).toBe(false);
      }),
    );
  });
});

describe('No attempt is identified by', () => {
  test('a token with one bit or one character changed', () => {
    fc.assert(
      fc.property(token, (text) => {
        for (let bit = 0; bit < 256; bit += 1) {
          const bytes = bytesOf(text);
          bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
          expect(tokens.read(bytes.toString('base64url'))).toBeNull();
        }
        const good = Array.from(text, (_, place) =>
          [...ALPHABET].filter((character) => tokens.read(withCharacter(text, place, character)) !== null),
        );
        expect(good.flat().join('')).toBe(text);
      }),
      { numRuns: 5 },
    );
  });

  test('a token by another secret, or two tokens cut and joined', () => {
    fc.assert(
      fc.property(
        attemptId,
        attemptId,
        fc.integer({ min: 1, max: 42 }),
        fc.string(),
        (id, other, cut, secret) => {
          fc.pre(id !== other && secret !== SECRET);
          expect(tokens.read(new CallbackTokens(secret).of(id))).toBeNull();
          const [first, second] = [tokens.of(id), tokens.of(other)];
          const joined = first.slice(0, cut) + second.slice(cut);
          if (joined !== first && joined !== second) expect(tokens.read(joined)).toBeNull();
        },
      ),
    );
  });

  test('another spelling of the same bytes', () => {
    fc.assert(
      fc.property(token, (text) => {
        const last = ALPHABET.indexOf(text.at(-1) ?? '');
        const twins = [1, 2, 3].map((spare) => withCharacter(text, 42, ALPHABET[last ^ spare] ?? ''));
        const broken = `${text.slice(0, 20)}\n${text.slice(20)}`;
        // A lenient decoder reads the same bytes from all these spellings.
        for (const spelling of [...twins, `${text}=`, `${text}\n`, ` ${text}`, broken, `${text}A`]) {
          expect(bytesOf(spelling).subarray(0, 32)).toEqual(bytesOf(text));
          expect(tokens.read(spelling)).toBeNull();
        }
      }),
    );
  });

  test('any other text, which does not make the reading throw', () => {
    const characters = fc.constantFrom(...ALPHABET);
    const junk = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: characters, minLength: 43, maxLength: 43 }),
      attemptId,
      fc.constant('A'.repeat(100_000)),
    );
    fc.assert(
      fc.property(junk, (text) => expect(tokens.read(text)).toBeNull()),
      { numRuns: 500 },
    );
  });
});
