import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { isEnumType, isUnionType } from 'graphql';
import { PUBLIC_CODES } from '../../src/http/public-codes';
import { gatewaySchema } from '../../src/resolvers';
import { INPUT_RULES } from '../../src/schema/input-rules';
import { VALUE_RULES } from '../../src/schema/value-rules';
import { TOP, codesIn, readPage, type Row } from './support/markdown';

const page = readPage('docs/results.md');
const schema = gatewaySchema();

const enumOf = (name: string): string[] => {
  const type = schema.getType(name);
  return isEnumType(type) ? type.getValues().map((value) => value.name) : [];
};
const membersOf = (name: string): string[] => {
  const type = schema.getType(name);
  return isUnionType(type) ? type.getTypes().map((member) => member.name) : [];
};

/** The words that a column of the table under a heading explains. */
const explained = (heading: string, column: string): string[] =>
  rowsUnder(heading).flatMap(({ columns, cells }) => codesIn(cells[columns.indexOf(column)]));
const rowsUnder = (heading: string): Row[] => page.rows.filter(({ under }) => under.at(-1) === heading);

const once = (words: readonly string[]): string[] => [...new Set(words)].sort();

const ANSWERS = 'What a mutation can answer';

test('every code that a caller can get is explained once, and no other', () => {
  expect(explained('GraphQL errors', '`code`').sort()).toEqual([...PUBLIC_CODES].sort());
});

test('every explained code says when it comes, whether to ask again, and what to do', () => {
  const thin = rowsUnder('GraphQL errors').filter(({ cells }) => cells.some((cell) => cell === ''));
  expect(thin).toEqual([]);
});

/** The sources but for the file that lists the words. */
const sourceBut = (list: string): string =>
  readdirSync(path.join(TOP, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && path.basename(name) !== list)
    .map((name) => readFileSync(path.join(TOP, 'src', name), 'utf8'))
    .join('\n');

test('no code is listed that nothing answers any more', () => {
  const source = sourceBut('public-codes.ts');
  const isAnswered = (code: string): boolean => new RegExp(`'${code}'|^  ${code}: `, 'm').test(source);
  expect(PUBLIC_CODES.filter((code) => !isAnswered(code))).toEqual([]);
});

test('every member of every result of a mutation is explained, and every code of an expected failure', () => {
  const results = ['CreatePaymentResult', 'ConfirmPaymentResult', 'CreatePayoutResult'];
  expect(explained(ANSWERS, '`__typename`').sort()).toEqual(once(results.flatMap(membersOf)));
  expect(explained(ANSWERS, '`code`').sort()).toEqual(enumOf('UserErrorCode').sort());
});

test('every rule that an input can break is explained once, and no other', () => {
  expect(explained('The rules of inputs', '`rule`').sort()).toEqual(once([...INPUT_RULES, ...VALUE_RULES]));
});

test('no rule is listed that no input can break any more', () => {
  const source = sourceBut('input-rules.ts');
  expect(INPUT_RULES.filter((rule) => !source.includes(`'${rule}'`))).toEqual([]);
});

test('every status, decline and reason is explained once', () => {
  const statuses = "What a payment's status asks for";
  expect(explained(statuses, '`status`').sort()).toEqual(enumOf('PaymentStatus').sort());
  const declines = 'Why it was declined';
  expect(explained(declines, '`error.code`').sort()).toEqual(enumOf('DeclineCode').sort());
  expect(explained(declines, '`error.reason`').sort()).toEqual(enumOf('DeclineReason').sort());
});

test('every next action is named where a status can ask for it', () => {
  const named = explained("What a payment's status asks for", '`nextAction`');
  expect(membersOf('NextAction').filter((action) => !named.includes(action))).toEqual([]);
});

test('the codes that end a live update are codes that there are', () => {
  const rows = readPage('docs/live-updates.md').rows.filter(({ columns }) => columns[0] === '`code`');
  const codes = rows.flatMap(({ cells }) => codesIn(cells[0])).filter((code) => /^[A-Z_]+$/.test(code));
  expect(codes.length).toBeGreaterThan(5);
  expect(codes.filter((code) => !PUBLIC_CODES.some((known) => known === code))).toEqual([]);
});
