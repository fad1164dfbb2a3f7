import fc from 'fast-check';
import type { AuditEntry, UnknownOutcomeEntry } from '../../src/observability/audit/audit-log';
import { cardNumber, digits, withCheckDigit } from '../properties/fixtures/canaries';
import { callsOf, entry, linesOf, objectsOf, openLog, temporaryLog, verify } from './support/files';

const FIELDS = ['who', 'key', 'channel', 'method', 'outcome', 'transactionId', 'requestId', 'ip'] as const;
const OUTCOME_FIELDS = [
  'who',
  'sudoUser',
  'statedName',
  'reason',
  'proposalId',
  'proposedBy',
  'outcome',
  'transactionId',
] as const;
const ATTEMPT_FIELDS = ['id', 'client', 'key', 'channel', 'method', 'currency', 'value', 'outcome'] as const;

const fieldsWith = <N extends string>(text: string, names: readonly N[]): Record<N, string> =>
  Object.fromEntries(names.map((name) => [name, text])) as Record<N, string>;

/** Returns an entry with `text` in every text field. */
const filled = (text: string): AuditEntry => ({
  ...entry(fieldsWith(text, FIELDS)),
  amount: { currency: text, value: text },
});

/** Returns an outcome with `text` in every text field. */
const filledOutcome = (text: string): UnknownOutcomeEntry => ({
  event: 'settled',
  ...fieldsWith(text, OUTCOME_FIELDS),
  attempt: { kind: 'payment', ...fieldsWith(text, ATTEMPT_FIELDS) },
});

/** Prefixes of the numbers of card schemes, by length. */
const SCHEMES: Record<number, string[]> = {
  13: ['4'],
  14: ['36'],
  15: ['34', '37'],
  16: ['4', '2221', '3528', '51', '55', '60', '62', '65', '81', '9792'],
  19: ['4', '62'],
};

/** Removes the fields whose digits are generated. */
const withoutGenerated = (line: string): string => line.replace(/"(hash|time|writer)":"[^"]*"/g, '');

const schemeNumber = fc
  .tuple(fc.constantFrom(...Object.keys(SCHEMES).map(Number)), fc.nat(), digits(18))
  .map(([length, choice, rest]) => {
    const prefixes = SCHEMES[length]!;
    return withCheckDigit((prefixes[choice % prefixes.length]! + rest).slice(0, length - 1));
  });

/** Generates texts that contain a card number, in groups of digits with separators. */
const written = (numbers: fc.Arbitrary<string>) =>
  fc
    .record({
      number: numbers,
      separator: fc.constantFrom('', ' ', '-', '.', '  ', '\n', '\u00a0', '\u2028'),
      group: fc.integer({ min: 2, max: 6 }),
      before: fc.string({ maxLength: 300 }).filter((text) => !/\d\W*$/.test(text)),
      after: fc.constantFrom('', ' ', 'x', '\u0000'),
    })
    .map(({ number, separator, group, before, after }) => ({
      number,
      text: `${before}${(number.match(new RegExp(`.{1,${group}}`, 'g')) ?? []).join(separator)}${after}`,
    }));

// Names keep numbers that no card scheme issues.
const NAMES: readonly string[] = ['who', 'key'];
const EXCEPT_NAMES = FIELDS.filter((field) => !NAMES.includes(field));

test.each([
  ['card numbers of card schemes in every field', schemeNumber, FIELDS],
  ['numbers with a valid check digit in every field but client and key', cardNumber, EXCEPT_NAMES],
])('The audit log redacts %s, whatever separates their digits', (_what, numbers, fields) => {
  const file = temporaryLog();
  const { log, faults } = openLog(file);
  fc.assert(
    fc.property(written(numbers), ({ number, text }) => {
      const { who, key } = entry();
      log.recordMutation({ ...filled(text), ...(fields === EXCEPT_NAMES && { who, key }) });
      const line = withoutGenerated(linesOf(file).at(-1)!).replace(/\\u[0-9a-f]{4}|\W/g, '');
      expect(line).not.toContain(number);
      for (const field of fields) expect(callsOf(file).at(-1)![field]).toBe('[redacted]');
    }),
    { numRuns: 150 },
  );
  expect(faults).toEqual([]);
});

test('The audit log does not redact a numeric client name or idempotency key outside the number ranges of the card schemes', () => {
  const file = temporaryLog();
  const { log } = openLog(file);
  const names = ['100000000000', '7000000000000000', '123456789012345', '99999999999999999'].flatMap(
    (name) => [name, withCheckDigit(name.slice(0, -1))],
  );
  for (const name of names) {
    log.recordMutation(entry({ who: `service:${name}`, key: name }));
    expect(callsOf(file).at(-1)).toMatchObject({ who: `service:${name}`, key: name });
    const { attempt, ...outcome } = filledOutcome('a');
    const action = { who: `operator:${name}` };
    const owner = { client: `frontend:https://a.example/ ${name}`, key: name };
    log.recordOperatorAction({ ...outcome, ...action, statedName: name, attempt: { ...attempt, ...owner } });
    expect(objectsOf(file).at(-1)).toMatchObject({ ...action, by: name, ...owner });
  }
});

test('The audit log does not redact a UUID whose digits form a card number, or an amount that forms one only with its decimals', () => {
  const file = temporaryLog();
  const { log } = openLog(file);
  // Digits of these UUIDs pass the checks for card numbers.
  const uuid = 'a0000000-0000-4000-8411-111111111111';
  const unlucky = ['a1b2c3d4-0000-4000-8000-424242424242', uuid, uuid.replace('8411', '9411')];
  for (const key of unlucky) {
    log.recordMutation(entry({ key, amount: { currency: 'IDR', value: '42424242424.24' } }));
    expect(callsOf(file).at(-1)).toMatchObject({ key, amount: { value: '42424242424.24' } });
  }
});

test.each(['pgk_0123456789abcdef0123', 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhIn0.c2ln'])(
  'The audit log redacts the credential %s in every field',
  (token) => {
    const file = temporaryLog();
    const { log } = openLog(file);
    log.recordMutation(filled(`it is ${token}`));
    log.recordOperatorAction(filledOutcome(token));
    expect(linesOf(file).join()).not.toContain(token);
    for (const field of FIELDS) expect(callsOf(file).at(-1)![field]).toBe('[redacted]');
  },
);

test('The audit log redacts a card number that was sent as an amount', () => {
  const file = temporaryLog();
  const { log } = openLog(file);
  for (const value of ['4111111111111111', '378282246310005', '378282246310005.00', '4111 1111 1111 1111']) {
    log.recordMutation(entry({ amount: { currency: 'EUR', value } }));
    expect(callsOf(file).at(-1)!.amount!.value).toBe('[redacted]');
  }
});

const nasty = fc.string({
  unit: fc.oneof(
    fc.constantFrom(...'\r\n\u2028\u2029\u0085\u0000\u007f\u202e\ufeff"\\', '\ud800', '\udc00'),
    fc.constantFrom('\r\n', '\u001b[2J', '\u001b]0;x\u0007', '\u009b31m', '{"audit":1,', '"}\n'),
    fc.string({ unit: 'binary', maxLength: 4 }),
  ),
  maxLength: 40,
});

test('The audit log writes any text as one line of printable ASCII, and parsing the line returns the text', async () => {
  const file = temporaryLog();
  const { log, faults } = openLog(file);
  let calls = 0;
  fc.assert(
    fc.property(
      nasty.filter((text) => !/\d{2}/.test(text)),
      (text) => {
        log.recordMutation(filled(text));
        calls += 1;
        const lines = linesOf(file);
        expect(lines).toHaveLength(calls + 1);
        expect(lines.at(-1)).toMatch(/^[\x20-\x7e]+$/);
        const { who } = callsOf(file).at(-1)!;
        if (who!.endsWith('[cut]')) expect(text.startsWith(who!.slice(0, -'[cut]'.length))).toBe(true);
        else expect(who).toBe(text);
      },
    ),
    { numRuns: 200 },
  );
  await log.close();
  expect(faults).toEqual([]);
  expect((await verify(file)).faults).toEqual([]);
});

test('The audit log truncates long texts, so that every line is shorter than 4096 bytes', async () => {
  const file = temporaryLog();
  const { log, faults } = openLog(file);
  const units = ['x', '\u0000', '\u{10ffff}', '\u{1f4b3}', '"', '\\', '\ud800', '\u202e', 'x\n'];
  for (const unit of units) {
    log.recordMutation(filled(unit.repeat(100_000)));
    log.recordRecovery(filledOutcome(unit.repeat(5_000)));
  }
  log.recordOperatorAction(filledOutcome('4111 1111 1111 1111'));
  await log.close();
  expect(faults).toEqual([]);
  for (const { who } of callsOf(file)) expect(who).toMatch(/\[cut\]$/);
  const lines = linesOf(file);
  expect(lines).toHaveLength(2 * units.length + 3);
  for (const line of lines) expect(line.length).toBeLessThan(4096);
  expect(withoutGenerated(lines.at(-2)!)).not.toMatch(/4111/);
  expect((await verify(file)).faults).toEqual([]);
});

test('The audit log does not truncate a reason of 255 characters, in any script', () => {
  const file = temporaryLog();
  const { log } = openLog(file);
  for (const reason of ['\u6c49'.repeat(255), '\u{1f4b3}'.repeat(127), '\\'.repeat(255)]) {
    log.recordOperatorAction({ ...filledOutcome('a'), reason });
    expect(objectsOf(file).at(-1)).toMatchObject({ reason });
  }
});
