import { randomUUID } from 'node:crypto';
import { openJournal } from '../../src/datasources/journal/open';
import { temporaryLog } from '../audit/support/files';
import { newAttempt } from '../journal/support/samples';
import { PATIENT_MS } from '../support/patience';
import { closeAfterTests, temporaryDatabase } from '../support/gateway';
import { NOBODY } from './support/doctor';
import { run } from './support/run';

const env = { DATABASE_URL: temporaryDatabase(), SERVICE_BASE_URL: NOBODY, AUDIT_LOG_FILE: temporaryLog() };
const BECAUSE = ['--reason', 'the service says so'];

/** An attempt in the journal of the settings, of unknown outcome. */
async function unknownAttempt() {
  const journal = closeAfterTests(await openJournal(env.DATABASE_URL, PATIENT_MS));
  const attempt = newAttempt({ service: NOBODY, startedAt: Date.UTC(2026, 0, 1) });
  await journal.begin(attempt);
  await journal.settle(attempt.id, { outcome: 'unknown', nextCheckAt: Date.UTC(2026, 0, 2) });
  return attempt;
}

const attempts = (...args: string[]) => run(['attempts', ...args], env);

test('nothing unknown is said so, and is an empty list for scripts', async () => {
  const nowhere = { ...env, DATABASE_URL: temporaryDatabase() };
  expect(await run(['attempts', 'list'], nowhere)).toEqual({
    code: 0,
    out: 'No outcome is unknown.\n',
    err: '',
  });
  expect(await run(['attempts', 'list', '--json'], nowhere)).toEqual({ code: 0, out: '[]\n', err: '' });
});

test('list and show tell of an unknown outcome, to people and to scripts', async () => {
  const { id, key, externalId } = await unknownAttempt();
  expect((await attempts('list')).out).toMatch(
    new RegExp(`^${id}  2026-01-01T00:00:00.000Z  payment  10.00 EUR .*${externalId}$`, 'm'),
  );
  const facts = {
    id,
    idempotencyKey: key,
    operation: 'createPayment',
    outcome: 'unknown',
    amount: { value: '10.00', currency: 'EUR' },
    externalId,
    startedAt: '2026-01-01T00:00:00.000Z',
    settledAt: null,
    nextCheckAt: '2026-01-02T00:00:00.000Z',
  };
  const { out } = await attempts('list', '--json');
  expect(JSON.parse(out)).toContainEqual(expect.objectContaining(facts));
  for (const name of [id, key]) {
    expect((await attempts('show', name)).out).toMatch(/^outcome: +unknown$/m);
    expect(JSON.parse((await attempts('show', name, '--json')).out)).toMatchObject(facts);
  }
});

test('settle says what became of it, once', async () => {
  const { id, key } = await unknownAttempt();
  const transactionId = randomUUID();
  const settled = await attempts(
    'settle',
    key,
    'succeeded',
    '--transaction-id',
    transactionId,
    '--json',
    ...BECAUSE,
  );
  expect(settled.code).toBe(0);
  expect(JSON.parse(settled.out)).toMatchObject({ id, outcome: 'succeeded', transactionId });
  const again = await attempts('settle', key, 'not_sent', ...BECAUSE);
  expect(again).toMatchObject({ code: 1, out: '' });
  expect(again.err).toContain('Its outcome is succeeded: only an unknown one can be settled.');
});

test('settled as not sent its key is free again, and it is listed no more', async () => {
  const { id, key } = await unknownAttempt();
  expect((await attempts('settle', id, 'not_sent', ...BECAUSE)).out).toMatch(/^outcome: +not_sent$/m);
  expect((await attempts('list')).out).not.toContain(key);
});

test('two attempts cannot have created one transaction', async () => {
  const [first, second] = [await unknownAttempt(), await unknownAttempt()];
  const created = ['succeeded', '--transaction-id', randomUUID(), ...BECAUSE];
  expect(await attempts('settle', first.id, ...created)).toMatchObject({ code: 0 });
  const { code, err } = await attempts('settle', second.id, ...created);
  expect(code).toBe(1);
  expect(err).toContain('Another attempt has created that transaction.');
});

test.each<[args: string[], code: number, says: string]>([
  [['show', 'nothing'], 1, 'There is no such attempt'],
  [['settle', 'nothing', 'not_sent', ...BECAUSE], 1, 'There is no such attempt'],
  [['settle', 'nothing', 'lost', ...BECAUSE], 2, 'Settle as not_sent or as succeeded.'],
  [['settle', 'nothing', 'succeeded', ...BECAUSE], 2, 'transaction id'],
  [['settle', 'nothing', 'succeeded', '--transaction-id', '1', ...BECAUSE], 2, 'expected a UUID.'],
  [['settle', 'nothing', 'not_sent'], 2, '--reason'],
  [['settle', 'nothing', 'not_sent', '--reason', ' '], 2, '--reason'],
  [['settle', 'nothing', 'not_sent', '--reason', 'a\nb'], 2, '--reason'],
  [['settle', 'nothing', 'not_sent', '--reason', 'x'.repeat(256)], 2, '--reason'],
  [['settle', 'nothing', 'not_sent', '--reason', 'card 4111 1111 1111 1111'], 2, '--reason'],
  [['settle', 'nothing', 'not_sent', '--by', 'card 4111111111111111', ...BECAUSE], 2, '--by'],
  [['settle', ...BECAUSE], 2, '--file'],
  [['settle', 'nothing', 'not_sent', '--all', ...BECAUSE], 2, '--all'],
  [['settle', '--all', ...BECAUSE], 2, '--older-than'],
  [['settle', '--all', '--older-than', '2', ...BECAUSE], 2, '--older-than'],
  [['settle', '--all', '--older-than', '2h', '--kind', 'both', ...BECAUSE], 2, '--kind'],
  [['settle', '--all', '--older-than', '2h', '--channel', 'x', ...BECAUSE], 2, '--channel'],
  [['settle', '--file', 'missing.csv', ...BECAUSE], 2, 'missing.csv'],
  [['settle', '--file', 'package.json', ...BECAUSE], 2, '.jsonl'],
  [['approve', 'nothing'], 1, 'There is no such proposal'],
  [['withdraw', 'nothing', ...BECAUSE], 1, 'There is no such proposal'],
])('what cannot be done is said: %j', async (args, code, says) => {
  const ran = await attempts(...args);
  expect(ran).toMatchObject({ code, out: '' });
  expect(ran.err).toContain(says);
});

test('settings that are wrong are named, and the exit code is 2', async () => {
  const wrong = await run(['attempts', 'list'], { ...env, DATABASE_URL: 'mysql://root:hunter2@db/' });
  expect(wrong).toMatchObject({ code: 2, out: '' });
  expect(wrong.err).toContain('DATABASE_URL: expected file:');
  expect(wrong.err).not.toContain('hunter2');
  const sandbox = await run(['attempts', 'list'], { DATABASE_URL: env.DATABASE_URL });
  expect(sandbox).toMatchObject({ code: 2, out: '' });
  expect(sandbox.err).toContain('SERVICE_BASE_URL is not set');
});

test('migrate makes the tables of a new journal; where there is none the exit code is 1', async () => {
  const fresh = { DATABASE_URL: temporaryDatabase() };
  expect(await run(['migrate'], fresh)).toEqual({ code: 0, out: 'The journal is up to date.\n', err: '' });
  expect(await run(['attempts', 'list'], { ...env, ...fresh })).toMatchObject({ code: 0 });
  const nowhere = await run(['migrate'], { DATABASE_URL: 'postgres://nobody:hunter2@127.0.0.1:1/none' });
  expect(nowhere).toMatchObject({ code: 1, out: '' });
  expect(nowhere.err).toContain('ECONNREFUSED');
  expect(nowhere.err).not.toContain('hunter2');
});
