import { remover } from '../../src/datasources/service/echoes';
import { fieldFault, inputFaults } from '../../src/operations/input-faults';
import { keptSecretFaults } from '../../src/operations/kept-secret-faults';
import { CustomFieldsInput } from '../../src/schema/methods/custom-fields';
import { findInReadings } from '../../src/schema/readings';
import { HIDDEN } from '../../src/schema/shown-text';

/** What reading costs does not grow faster than the text, whatever it is made of. */

const MARKS = `a${'\u0315'.repeat(24_000)}${'\u0316'.repeat(24_000)}`;
const WORDS = '\ufdfa'.repeat(32_000);

/** The longest text that String.normalize was called with. */
function longestNormalized(work: () => void): number {
  const normalize = jest.spyOn(String.prototype, 'normalize');
  try {
    work();
    return Math.max(0, ...normalize.mock.contexts.map((text) => String(text).length));
  } finally {
    normalize.mockRestore();
  }
}

const lengthsRead = (text: string): number[] => {
  const lengths: number[] = [];
  findInReadings(text, (reading) => {
    lengths.push(reading.length);
    return [];
  });
  return lengths;
};

describe('Readings of a long text', () => {
  test('are made of one character at a time: normalising many marks at once takes quadratic time', () => {
    expect(longestNormalized(() => void lengthsRead(MARKS))).toBeLessThanOrEqual(2);
    expect(lengthsRead(MARKS)).toEqual([MARKS.length, 1]);
  });

  test('are no longer than it where one character stands for words', () => {
    expect(Math.max(...lengthsRead(WORDS))).toBe(WORDS.length);
  });

  test('still show a secret behind them', () => {
    const secret = 'sk_live_abcdefgh';
    const written = [...secret].map((character) => `${character}\u0315\u0316`).join('');
    expect(remover({ credentials: [secret] })(`${WORDS} ${written} ${WORDS}`)).toBe(
      `${WORDS} ${HIDDEN} ${WORDS}`,
    );
  });
});

describe('A text that is refused already', () => {
  test('is not read for secrets', () => {
    const input = { idempotencyKey: `4111111111111111${MARKS}`, description: '4111 1111 1111 1111' };
    const method = { arm: 'card', type: 'card', secrets: [] };
    const refused = [fieldFault(['idempotencyKey'], 'maxLength', '')];
    const faults = keptSecretFaults(input, method, refused);
    expect(faults.map(({ path }) => path)).toEqual([['description']]);
  });

  test('is not read for card numbers in fields that are too large', () => {
    const input = Object.assign(new CustomFieldsInput(), {
      fields: { note: `4111111111111111 ${'x'.repeat(8192)}` },
    });
    expect(inputFaults(input).map(({ rule }) => rule)).toEqual(['size']);
  });
});
