import { randomUUID } from 'node:crypto';
import fs, { existsSync } from 'node:fs';
import { temporaryDatabase } from '../support/gateway';
import { NOBODY } from './support/doctor';
import { run } from './support/run';
import { BECAUSE, describeSqliteDesk } from './support/settling';

describeSqliteDesk('The command `attempts`', (desk) => {
  test('prints an unknown outcome with list and show, as text and as JSON', async () => {
    const { attempts, unknown } = desk();
    const { id, key, externalId } = await unknown();
    expect((await attempts(['list'])).out).toMatch(
      new RegExp(`^${id} +2026-01-01T00:00:00.000Z +payment +10.00 EUR .*${externalId}$`, 'm'),
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
      nextRecheckAt: '2026-01-02T00:00:00.000Z',
    };
    const { out } = await attempts(['list', '--json']);
    expect(JSON.parse(out)).toContainEqual(expect.objectContaining(facts));
    for (const name of [id, key]) {
      expect((await attempts(['show', name])).out).toMatch(/^outcome: +unknown$/m);
      expect(JSON.parse((await attempts(['show', name, '--json'])).out)).toMatchObject(facts);
    }
  });

  test.each<[args: string[], code: number, names: string]>([
    [['show', 'nothing'], 1, 'attempt'],
    [['settle', 'nothing', 'not_sent', ...BECAUSE], 1, 'attempt'],
    [['settle', 'nothing', 'lost', ...BECAUSE], 2, 'not_sent'],
    [['settle', 'nothing', 'succeeded', '--transaction-id', '1', ...BECAUSE], 2, 'UUID'],
    [['settle', 'nothing', 'not_sent'], 2, '--reason'],
    [['settle', 'nothing', 'not_sent', '--reason', 'card 4111 1111 1111 1111'], 2, '--reason'],
    [['settle', 'nothing', 'not_sent', '--by', 'card 4111111111111111', ...BECAUSE], 2, '--by'],
    [['settle', ...BECAUSE], 2, '--file'],
    [['settle', '--all', ...BECAUSE], 2, '--older-than'],
    [['settle', '--all', '--older-than', '2h', '--channel', 'x', ...BECAUSE], 2, '--channel'],
    [['settle', '--file', 'missing.csv', ...BECAUSE], 2, 'missing.csv'],
    [['settle', '--file', 'missing.csv', '--channel', randomUUID(), ...BECAUSE], 2, '--channel'],
    [['settle', 'nothing', 'not_sent', '--kind', 'payout', ...BECAUSE], 2, '--kind'],
    [['approve', 'nothing'], 1, 'proposal'],
    [['withdraw', 'nothing', ...BECAUSE], 1, 'proposal'],
  ])('with the arguments %j exits with %i and an error that contains "%s"', async (args, code, names) => {
    expect(await desk().attempts(args)).toEqual({ code, out: '', err: expect.stringContaining(names) });
  });
});

describe('The command `migrate`', () => {
  test('creates the tables of a new journal', async () => {
    const env = { DATABASE_URL: temporaryDatabase(), SERVICE_BASE_URL: NOBODY };
    expect(await run(['migrate'], env)).toMatchObject({ code: 0, err: '' });
    expect(await run(['attempts', 'list', '--json'], env)).toEqual({ code: 0, out: '[]\n', err: '' });
  });

  test('exits with 1 and names the error code if the database refuses connections', async () => {
    const ran = await run(['migrate'], { DATABASE_URL: 'postgres://nobody:hunter2@127.0.0.1:1/none' });
    expect(ran).toMatchObject({ code: 1, out: '', err: expect.stringContaining('ECONNREFUSED') });
    expect(ran.err).not.toContain('hunter2');
  });
});

interface Report {
  isCarriedOut: boolean;
  counts: Record<string, number>;
  totals: { operation: string; currency: string; attempts: number; value: string }[];
  results: { line: number | null; name: string; state: string; message: string | null }[];
}

const reportOf = ({ out }: { out: string }): Report => JSON.parse(out) as Report;

describeSqliteDesk('The command `attempts settle --file`', (desk) => {
  test('previews each line without --yes, and settles the attempts with --yes', async () => {
    const { attempts, unknown, outcomeOf, linesAbout, file } = desk();
    const [sent, lost, byKey, second, earlier, left] = await Promise.all(
      [1, 2, 3, 4, 5, 6].map((place) => unknown({ value: `${place}.10`, key: `k,"${randomUUID()}"` })),
    );
    await attempts(['settle', earlier!.id, 'not_sent', ...BECAUSE]);
    const transactionId = randomUUID();
    const csv = file(
      'decided.csv',
      [
        '\uFEFFid,note,outcome,transaction_id,Idempotency Key',
        `${sent!.id},"two\r\nlines",succeeded,${transactionId},`,
        `${lost!.id},,not_sent,,`,
        `,,not_sent,,"${byKey!.key.replaceAll('"', '""')}"`,
        `${second!.id},,succeeded,${transactionId},`,
        `${earlier!.id},,not_sent,,`,
        `${left!.id},,unknown,,`,
        `${randomUUID()},,not_sent,,`,
        `${left!.id},,lost,,`,
        'too,few',
        `${lost!.id},,not_sent,,`,
        '',
      ].join('\r\n'),
    );
    const many = ['settle', '--file', csv, ...BECAUSE];

    const preview = await attempts([...many, '--json']);
    expect(preview.code).toBe(1);
    expect(reportOf(preview)).toMatchObject({
      isCarriedOut: false,
      counts: { ready: 3, already_settled: 1, left_unknown: 1, refused: 5 },
      totals: [{ operation: 'createPayment', currency: 'EUR', attempts: 3, value: '6.30' }],
    });
    for (const { id } of [sent!, lost!, byKey!])
      expect([await outcomeOf(id), linesAbout(id)]).toEqual(['unknown', []]);

    const done = await attempts([...many, '--json', '--yes']);
    expect(done.code).toBe(1);
    const { results, ...summary } = reportOf(done);
    expect(summary).toMatchObject({
      isCarriedOut: true,
      counts: { settled: 3, already_settled: 1, left_unknown: 1, refused: 5 },
    });
    const refused = results.filter(({ state }) => state === 'refused').map(({ line }) => line);
    expect(refused).toEqual([6, 9, 10, 11, 12]);
    const outcomes = await Promise.all([sent, lost, byKey, second, left].map((each) => outcomeOf(each!.id)));
    expect(outcomes).toEqual(['succeeded', 'not_sent', 'not_sent', 'unknown', 'unknown']);
    for (const { id } of [sent!, lost!, byKey!]) expect(linesAbout(id)).toHaveLength(1);

    const again = reportOf(await attempts([...many, '--json', '--yes']));
    expect(again.counts).toEqual({ already_settled: 4, left_unknown: 1, refused: 5 });
    for (const { id } of [sent!, lost!, byKey!]) expect(linesAbout(id)).toHaveLength(1);
    expect((await attempts([...many, '--yes'])).out).toMatch(/^line 9: /m);
  });

  test('accepts files written by attempts list --csv or --jsonl, and skips lines whose outcome is still unknown', async () => {
    const { attempts, unknown, outcomeOf, file } = desk();
    const [first, second] = [await unknown({ key: '=1+1' }), await unknown()];
    const csv = (await attempts(['list', '--csv'])).out;
    expect(csv).not.toMatch(/(^|,)"?=/m);
    const settle = (name: string, content: string) =>
      attempts(['settle', '--file', file(name, content), '--yes', ...BECAUSE]);
    expect(await settle('all.csv', csv)).toMatchObject({ code: 0 });
    expect(await outcomeOf(first.id)).toBe('unknown');

    const edited = csv.replace(`${first.id},unknown`, `${first.id},not_sent`);
    expect(await settle('all.csv', edited)).toMatchObject({ code: 0 });
    expect([await outcomeOf(first.id), await outcomeOf(second.id)]).toEqual(['not_sent', 'unknown']);

    const transactionId = randomUUID();
    const lines = (await attempts(['list', '--jsonl'])).out.split('\n');
    const line = JSON.parse(lines.find((each) => each.includes(second.id))!) as object;
    const jsonl = JSON.stringify({ ...line, outcome: 'succeeded', transactionId });
    expect(await settle('one.jsonl', jsonl)).toMatchObject({ code: 0 });
    expect(await outcomeOf(second.id)).toBe('succeeded');
  });

  test('refuses lines of a .jsonl file that are malformed, repeat a field or identify two attempts', async () => {
    const { attempts, unknown, outcomeOf, file } = desk();
    const [first, second] = [await unknown(), await unknown()];
    const lines = [
      '{"id":',
      '{"outcome":"not_sent"}',
      `{"id":"${first.id}","outcome":"succeeded","outcome":"not_sent"}`,
      JSON.stringify({ id: first.id, attemptId: second.id, outcome: 'not_sent' }),
      JSON.stringify({ id: first.id, idempotencyKey: second.key, outcome: 'not_sent' }),
      JSON.stringify({ id: second.id, idempotencyKey: second.key, outcome: 'not_sent' }),
    ];
    const jsonl = file('two.jsonl', lines.join('\n'));
    const refused = await attempts(['settle', '--file', jsonl, '--yes', '--json', ...BECAUSE]);
    expect(refused.code).toBe(1);
    expect(reportOf(refused).counts).toEqual({ refused: 5, settled: 1 });
    expect(await outcomeOf(first.id)).toBe('unknown');
  });

  test.each([
    ['without the required columns', 'x.csv', 'attempt,result\n1,2\n'],
    ['with a repeated column', 'x.csv', 'id,outcome,Outcome\n1,not_sent,succeeded\n'],
    ['that is not UTF-8', 'x.csv', Buffer.from('id,outcome\nM\u00fcller,not_sent\n', 'latin1')],
  ])('exits with 2 for a file %s', async (_, name, content) => {
    const { attempts, file } = desk();
    const refused = await attempts(['settle', '--file', file(name, content), ...BECAUSE]);
    expect(refused).toMatchObject({ code: 2, out: '' });
  });

  test('settles nothing if the audit log cannot be written', async () => {
    const { attempts, unknown, outcomeOf, file } = desk();
    const { id } = await unknown();
    const jsonl = file('one.jsonl', JSON.stringify({ id, outcome: 'not_sent' }));
    const { writeSync } = fs;
    // The disk becomes full after the first line of the audit log.
    const write = jest.spyOn(fs, 'writeSync').mockImplementation(((fd: number, bytes: Buffer) => {
      if (bytes.includes(id)) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
      return writeSync(fd, bytes);
    }) as typeof writeSync);
    const refused = await attempts(['settle', '--file', jsonl, '--yes', ...BECAUSE]);
    write.mockRestore();
    expect(refused.code).toBe(1);
    expect(await outcomeOf(id)).toBe('unknown');
  });
});

describeSqliteDesk('The command `attempts settle --all`', (desk) => {
  test('previews the selected attempts without --yes, and settles them as not sent with --yes', async () => {
    const { attempts, unknown, outcomeOf, linesAbout, auditFile } = desk();
    const channel = randomUUID();
    const old = await unknown({ channel, value: '0.05' });
    const large = await unknown({ channel, value: '99999999999.99' });
    const recent = await unknown({ channel, startedAt: Date.now() });
    const payout = await unknown({ channel, kind: 'payout' });
    const elsewhere = await unknown();
    const all = ['settle', '--all', '--older-than', '2h', '--kind', 'payment', '--channel', channel];

    const preview = await attempts([...all, ...BECAUSE, '--json']);
    expect(preview.code).toBe(0);
    expect(reportOf(preview)).toMatchObject({
      isCarriedOut: false,
      counts: { ready: 2 },
      totals: [{ operation: 'createPayment', currency: 'EUR', attempts: 2, value: '100000000000.04' }],
    });
    expect(existsSync(auditFile)).toBe(false);
    expect(await outcomeOf(old.id)).toBe('unknown');

    expect(await attempts([...all, ...BECAUSE, '--yes'])).toMatchObject({ code: 0 });
    for (const { id } of [old, large]) {
      expect(await outcomeOf(id)).toBe('not_sent');
      expect(linesAbout(id)).toMatchObject([{ event: 'settled', outcome: 'not_sent', transactionId: null }]);
    }
    for (const { id } of [recent, payout, elsewhere]) expect(await outcomeOf(id)).toBe('unknown');
    expect(reportOf(await attempts([...all, ...BECAUSE, '--yes', '--json']))).toMatchObject({ results: [] });
  });
});
