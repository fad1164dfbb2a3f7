import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { decodeCursor } from '../../src/core/changes/cursor';
import { newAttempt, OUTCOMES, purgeAll } from '../journal/support/samples';
import {
  describeBooks,
  describeSqliteBooks,
  observedAs,
  readCsv,
  START,
  type Books,
} from './support/reconciling';
import { run, start, type Ran } from './support/run';

/** Runs `paygraph changes` in this process. */
async function changes(books: Books, ...args: string[]): Promise<Ran> {
  await books.changesAreReadable();
  return run(['changes', ...args], books.env);
}

/** The cursor for the next run, which is the last line of standard error. */
const nextCursor = ({ err }: Ran): string => /next cursor: (\S+)\n$/.exec(err)?.[1] ?? '';

type JsonChange = Record<string, unknown> & { cursor: string; transactionId: string; status: string };

const readJsonLines = (out: string): JsonChange[] =>
  out.match(/.+/g)!.map((line) => JSON.parse(line) as JsonChange);

/** Records creates with one change each, quickly. */
async function recordCreates({ journal, service, channel }: Books, count: number): Promise<void> {
  const create = async (): Promise<void> => {
    const attempt = newAttempt({ service: service.url, channel, startedAt: START });
    await journal.insertAttempt(attempt);
    const created = { transactionId: randomUUID(), observedState: observedAs('PENDING') };
    await journal.recordOutcome(attempt.id, { ...OUTCOMES.succeeded, ...created });
  };
  await Promise.all(Array.from({ length: count }, create));
}

describeBooks('The command `changes`', (books) => {
  test('prints every change of a channel once, oldest first, as CSV and as JSON lines', async () => {
    const { channel } = books();
    const payment = await books().paid({ method: 'card', changes: ['PENDING', 'MISPAID', 'COMPLETED'] });
    const { transactionId, attempt } = payment;
    const payout = await books().paid({ kind: 'payout', method: 'imps', changes: ['PROCESSING'] });
    const csv = await changes(books(), '--channel', channel);
    const rows = readCsv(csv.out);
    expect(csv.code).toBe(0);
    expect(rows).toMatchObject([
      { kind: 'payment', channel, method: 'CARD', currency: 'EUR', value: '10.00' },
      { transactionId, previousStatus: 'PENDING', status: 'MISPAID', received: '9.00' },
      { externalId: attempt.externalId, previousStatus: 'MISPAID', status: 'COMPLETED' },
      { kind: 'payout', transactionId: payout.transactionId, status: 'PROCESSING', state: '' },
    ]);
    expect(rows[0]).toMatchObject({ previousStatus: '', status: 'PENDING', received: '' });
    const json = readJsonLines((await changes(books(), '--channel', channel, '--format', 'jsonl')).out);
    expect(json.map(({ cursor }) => cursor)).toEqual(rows.map(({ cursor }) => cursor));
    expect(json[1]).toEqual({
      __typename: 'PaymentChange',
      cursor: rows[1]!['cursor'],
      recordedAt: rows[1]!['recordedAt'],
      channel,
      transactionId,
      externalId: attempt.externalId,
      method: 'CARD',
      previousStatus: 'PENDING',
      status: 'MISPAID',
      state: null,
      amount: { currency: 'EUR', value: '10.00', received: '9.00' },
    });
    expect(json[3]).toMatchObject({ __typename: 'PayoutChange', previousStatus: null });
    expect(json[3]).not.toHaveProperty('state');
    expect(nextCursor(csv)).toBe(rows[3]!['cursor']);
    await books().paid({ channel: randomUUID(), changes: ['PENDING'] });
    // By default, the changes of all channels are printed.
    expect(readCsv((await changes(books())).out).length).toBeGreaterThan(rows.length);
  });

  test('continues after a cursor without a gap or a repetition, over several pages', async () => {
    const { channel } = books();
    await recordCreates(books(), 2300);
    const all = readCsv((await changes(books(), '--channel', channel)).out);
    expect(all).toHaveLength(2300);
    const first = await changes(books(), '--channel', channel, '--limit', '1500');
    const rest = await changes(books(), '--channel', channel, '--after', nextCursor(first));
    expect([...readCsv(first.out), ...readCsv(rest.out)]).toEqual(all);
    // Nothing is new: the next run begins at the same cursor.
    const empty = await changes(books(), '--channel', channel, '--after', nextCursor(rest));
    expect({ code: empty.code, rows: readCsv(empty.out) }).toEqual({ code: 0, rows: [] });
    await books().paid({ changes: ['FAILED'] });
    const later = await changes(books(), '--channel', channel, '--after', nextCursor(empty));
    expect(readCsv(later.out)).toMatchObject([{ status: 'FAILED' }]);
  });

  test('prints the oldest valid cursor if --after is malformed or older than the oldest kept change', async () => {
    const malformed = await changes(books(), '--after', 'yesterday');
    expect(malformed).toMatchObject({ code: 2, out: '' });
    await books().paid({ changes: ['PENDING', 'PROCESSING'] });
    const [first] = readCsv((await changes(books(), '--channel', books().channel)).out);
    await purgeAll(books().journal, 'changes', Number.MAX_SAFE_INTEGER, 1000);
    await books().paid({ changes: ['COMPLETED'] });
    for (const cursor of [first!['cursor']!, 'x']) {
      const refused = await changes(books(), '--after', cursor);
      expect(refused).toMatchObject({ code: 2, out: '' });
      const [, oldest = ''] = /oldest cursor is ([\w-]+)/.exec(refused.err) ?? [];
      expect(decodeCursor(oldest)).toBeDefined();
      const rest = await changes(books(), '--after', oldest, '--channel', books().channel);
      expect(readCsv(rest.out)).toMatchObject([{ status: 'COMPLETED' }]);
    }
  });
});

describeSqliteBooks('The command `changes`', (books) => {
  test('escapes external ids that a spreadsheet would read as formulas', async () => {
    const externalId = '=1+1,"x"\r\n';
    await books().paid({ externalId, changes: ['PENDING'] });
    const { out } = await changes(books(), '--channel', books().channel);
    expect(readCsv(out)).toMatchObject([{ externalId: `'${externalId}` }]);
  });

  test('ends without an error if its output is closed, for example by head', async () => {
    await recordCreates(books(), 1000);
    const { child, code } = start(['changes', '--format', 'jsonl'], { env: books().env });
    const err = text(child.stderr);
    await once(child.stdout, 'data');
    child.stdout.destroy();
    expect(await code).toBe(0);
    // No cursor is printed, because not every change was read.
    expect(await err).toBe('');
  });

  test.each([
    ['--channel', 'mine'],
    ['--limit', '0'],
  ])('exits with 2 for the invalid option %s %s', async (name, value) => {
    const { code, out, err } = await changes(books(), name, value);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(name);
  });
});
