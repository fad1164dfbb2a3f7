import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { CallbackTokens } from '../../src/operations/callback-tokens';

const SECRET = 'a secret that all instances share';
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

const tokens = new CallbackTokens(SECRET);

const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: length, maxLength: length });

/** Any UUID, whatever its version. */
const attemptId = fc.tuple(hex(8), hex(4), hex(4), hex(4), hex(12)).map((parts) => parts.join('-'));
const token = attemptId.map((id) => tokens.of(id));

const bytesOf = (text: string): Buffer => Buffer.from(text, 'base64url');
const withCharacter = (text: string, place: number, character: string): string =>
  text.slice(0, place) + character + text.slice(place + 1);

describe('The token of an attempt', () => {
  test('says which attempt it was made for', () => {
    fc.assert(fc.property(attemptId, (id) => expect(tokens.read(tokens.of(id))).toBe(id)));
  });

  test('is 43 characters that an address can hold as they are', () => {
    fc.assert(fc.property(token, (text) => expect(text).toMatch(/^[A-Za-z0-9_-]{43}$/)));
  });

  test('is the same each time and in every instance that has the secret', () => {
    fc.assert(
      fc.property(attemptId, fc.string(), (id, secret) => {
        const [one, other] = [new CallbackTokens(secret), new CallbackTokens(secret)];
        expect([one.of(id), other.of(id)]).toEqual([one.of(id), one.of(id)]);
        expect(other.read(one.of(id))).toBe(id);
      }),
    );
  });

  test('is what openly known means make of the secret, so that tokens given out stay good', () => {
    // HKDF and HMAC as Python's hmac and hashlib compute them.
    const given = '-1L4hO-VlXfsA4IPYJxaMfh7V7aMX__r9lqvtFZh4M0';
    const id = '0f8fad5b-d9cb-469f-a165-70867728950e';
    expect([tokens.of(id), tokens.read(given)]).toEqual([given, id]);
  });

  test('is shared by no other attempt, be they alike in all but one digit', () => {
    const ids = Array.from({ length: 5000 }, () => randomUUID());
    expect(new Set(ids.map((id) => tokens.of(id))).size).toBe(ids.length);
    fc.assert(
      fc.property(attemptId, fc.nat(31), fc.integer({ min: 1, max: 15 }), (id, place, change) => {
        const digits = id.replaceAll('-', '');
        const digit = (Number.parseInt(digits[place] ?? '', 16) ^ change).toString(16);
        const near = withCharacter(digits, place, digit).replace(
          /^(.{8})(.{4})(.{4})(.{4})(.{12})$/,
          '$1-$2-$3-$4-$5',
        );
        const [one, other] = [tokens.of(id), tokens.of(near)];
        // Neither half stays, so nothing tells that the two are near each other.
        expect(bytesOf(one).subarray(0, 16)).not.toEqual(bytesOf(other).subarray(0, 16));
        expect(bytesOf(one).subarray(16)).not.toEqual(bytesOf(other).subarray(16));
      }),
    );
  });

  test('does not show the id', () => {
    fc.assert(
      fc.property(attemptId, (id) => {
        const [shown, hidden] = [bytesOf(tokens.of(id)), Buffer.from(id.replaceAll('-', ''), 'hex')];
        for (let place = 0; place + 6 <= hidden.length; place += 1)
          expect(shown.includes(hidden.subarray(place, place + 6))).toBe(false);
      }),
    );
  });

  test.each([
    '',
    'attempt-1',
    '0F8FAD5B-D9CB-469F-A165-70867728950E',
    '0f8fad5bd9cb469fa16570867728950e',
    '0f8fad5b-d9cb-469f-a165-70867728950e\n',
    '{0f8fad5b-d9cb-469f-a165-70867728950e}',
  ])('is not made for what is no id of an attempt: %j', (id) => {
    expect(() => tokens.of(id)).toThrow(TypeError);
  });
});

describe('No attempt is named by', () => {
  test('a token with any one bit changed', () => {
    fc.assert(
      fc.property(token, (text) => {
        for (let bit = 0; bit < 256; bit += 1) {
          const bytes = bytesOf(text);
          bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
          expect(tokens.read(bytes.toString('base64url'))).toBeNull();
        }
      }),
      { numRuns: 20 },
    );
  });

  test('a token with any one character changed into any other', () => {
    fc.assert(
      fc.property(token, (text) => {
        const good = Array.from({ length: text.length }, (_, place) =>
          [...ALPHABET]
            .filter((character) => tokens.read(withCharacter(text, place, character)) !== null)
            .join(''),
        );
        expect(good.join('')).toBe(text);
      }),
      { numRuns: 5 },
    );
  });

  test('a token made with another secret', () => {
    fc.assert(
      fc.property(attemptId, fc.string(), fc.string(), (id, one, other) => {
        fc.pre(one !== other);
        expect(new CallbackTokens(one).read(new CallbackTokens(other).of(id))).toBeNull();
      }),
    );
  });

  test('two tokens cut and joined', () => {
    fc.assert(
      fc.property(token, token, fc.integer({ min: 1, max: 42 }), (one, other, cut) => {
        const joined = one.slice(0, cut) + other.slice(cut);
        fc.pre(joined !== one && joined !== other);
        expect(tokens.read(joined)).toBeNull();
      }),
    );
  });

  test('the same bytes in another spelling', () => {
    fc.assert(
      fc.property(token, (text) => {
        const last = ALPHABET.indexOf(text.at(-1) ?? '');
        const twins = [1, 2, 3].map((spare) => withCharacter(text, 42, ALPHABET[last ^ spare] ?? ''));
        const spellings = [
          ...twins,
          `${text}=`,
          `${text}\n`,
          ` ${text}`,
          `${text.slice(0, 20)}\n${text.slice(20)}`,
          `${text}A`,
        ];
        // All of them mean to a lenient reader what the token means.
        for (const spelling of spellings) {
          expect(bytesOf(spelling).subarray(0, 32)).toEqual(bytesOf(text));
          expect(tokens.read(spelling)).toBeNull();
        }
        const encoded = `%${text.charCodeAt(0).toString(16)}${text.slice(1)}`;
        expect(decodeURIComponent(encoded)).toBe(text);
        expect(tokens.read(encoded)).toBeNull();
      }),
    );
  });

  test('the other alphabet of base64', () => {
    fc.assert(
      fc.property(token, (text) => {
        const other = text.replaceAll('-', '+').replaceAll('_', '/');
        fc.pre(other !== text);
        expect(tokens.read(other)).toBeNull();
      }),
    );
  });

  test('any other text, and none makes it throw', () => {
    const characters = fc.constantFrom(...ALPHABET);
    const junk = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: characters, minLength: 43, maxLength: 43 }),
      fc.string({ unit: characters, minLength: 30, maxLength: 60 }),
      fc
        .uint8Array({ minLength: 32, maxLength: 32 })
        .map((bytes) => Buffer.from(bytes).toString('base64url')),
      fc.array(fc.nat(0xffff), { maxLength: 50 }).map((units) => String.fromCharCode(...units)),
      attemptId,
      fc.constant('A'.repeat(100_000)),
    );
    fc.assert(
      fc.property(junk, (text) => expect(tokens.read(text)).toBeNull()),
      { numRuns: 3000 },
    );
  });
});
