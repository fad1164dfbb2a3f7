import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { BECAUSE, describeDesks } from './support/settling';

interface Report {
  isCarriedOut: boolean;
  counts: Record<string, number>;
  totals: { operation: string; currency: string; attempts: number; value: string }[];
  results: { line: number | null; name: string; state: string; message: string | null }[];
}

const reportOf = ({ out }: { out: string }): Report => JSON.parse(out) as Report;

describeDesks('attempts settle --file', (desk) => {
  test('checks and settles each line, and names lines that cannot be settled', async () => {
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
    for (const { id } of [sent!, lost!, byKey!]) {
      expect(await outcomeOf(id)).toBe('unknown');
      expect(linesAbout(id)).toEqual([]);
    }

    const done = await attempts([...many, '--json', '--yes']);
    expect(done.code).toBe(1);
    const { results, ...summary } = reportOf(done);
    expect(summary).toMatchObject({
      isCarriedOut: true,
      counts: { settled: 3, already_settled: 1, left_unknown: 1, refused: 5 },
    });
    expect(results.map(({ line, state }) => [line, state])).toEqual([
      [2, 'settled'],
      [4, 'settled'],
      [5, 'settled'],
      [6, 'refused'],
      [7, 'already_settled'],
      [8, 'left_unknown'],
      [9, 'refused'],
      [10, 'refused'],
      [11, 'refused'],
      [12, 'refused'],
    ]);
    for (const [{ id }, outcome] of [
      [sent!, 'succeeded'],
      [lost!, 'not_sent'],
      [byKey!, 'not_sent'],
      [second!, 'unknown'],
      [left!, 'unknown'],
    ] as const)
      expect(await outcomeOf(id)).toBe(outcome);
    for (const { id } of [sent!, lost!, byKey!]) expect(linesAbout(id)).toHaveLength(1);

    const again = reportOf(await attempts([...many, '--json', '--yes']));
    expect(again.counts).toEqual({ already_settled: 4, left_unknown: 1, refused: 5 });
    for (const { id } of [sent!, lost!, byKey!]) expect(linesAbout(id)).toHaveLength(1);
    const text = await attempts([...many, '--yes']);
    expect(text.out).toMatch(/^line 9: .*REFUSED/m);
  });

  test('reads what list exports, and leaves alone what nobody has decided', async () => {
    const { attempts, unknown, outcomeOf, file } = desk();
    const [first, second] = [await unknown({ key: '=1+1' }), await unknown()];
    const csv = (await attempts(['list', '--csv'])).out;
    expect(csv).not.toMatch(/(^|,)"?=/m);
    const untouched = await attempts(['settle', '--file', file('all.csv', csv), '--yes', ...BECAUSE]);
    expect(untouched.code).toBe(0);
    expect(await outcomeOf(first.id)).toBe('unknown');

    const edited = csv.replace(`${first.id},unknown`, `${first.id},not_sent`);
    const settled = await attempts(['settle', '--file', file('all.csv', edited), '--yes', ...BECAUSE]);
    expect(settled.code).toBe(0);
    expect([await outcomeOf(first.id), await outcomeOf(second.id)]).toEqual(['not_sent', 'unknown']);

    const transactionId = randomUUID();
    const lines = (await attempts(['list', '--jsonl'])).out.trimEnd().split('\n');
    const jsonl = lines
      .map((line) => JSON.parse(line) as { id: string })
      .map((each) => (each.id === second.id ? { ...each, outcome: 'succeeded', transactionId } : each))
      .map((each) => JSON.stringify(each))
      .join('\n');
    const more = await attempts(['settle', '--file', file('all.jsonl', jsonl), '--yes', ...BECAUSE]);
    expect(more.code).toBe(0);
    expect(await outcomeOf(second.id)).toBe('succeeded');
  });

  test('list prints every attempt into a pipe, however many there are', async () => {
    const { attempts, unknown } = desk();
    const begun = await Promise.all(Array.from({ length: 5000 }, () => unknown()));
    const { code, out } = await attempts(['list', '--jsonl']);
    expect(code).toBe(0);
    const listed = new Set(
      out
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { id: string }).id),
    );
    expect(begun.filter(({ id }) => !listed.has(id))).toEqual([]);
  });

  test('names malformed lines of a .jsonl file', async () => {
    const { attempts, unknown, file } = desk();
    const { id } = await unknown();
    const lines = ['{"id":', '[]', '{"outcome":"not_sent"}', JSON.stringify({ id, outcome: 1 })];
    const jsonl = file('bad.jsonl', lines.join('\n'));
    const refused = await attempts(['settle', '--file', jsonl, '--yes', '--json', ...BECAUSE]);
    expect(refused.code).toBe(1);
    expect(reportOf(refused).results.map(({ line, state }) => `${line} ${state}`)).toEqual(
      [1, 2, 3, 4].map((line) => `${line} refused`),
    );
  });

  test('refuses lines that name something twice, or two attempts', async () => {
    const { attempts, unknown, outcomeOf, file } = desk();
    const [first, second] = [await unknown(), await unknown()];
    const lines = [
      `{"id":"${first.id}","outcome":"succeeded","outcome":"not_sent"}`,
      JSON.stringify({ id: first.id, attemptId: second.id, outcome: 'not_sent' }),
      JSON.stringify({ id: first.id, idempotencyKey: second.key, outcome: 'not_sent' }),
      JSON.stringify({ id: second.id, idempotencyKey: second.key, outcome: 'not_sent' }),
    ];
    const jsonl = file('two.jsonl', lines.join('\n'));
    const refused = await attempts(['settle', '--file', jsonl, '--yes', '--json', ...BECAUSE]);
    expect(refused.code).toBe(1);
    expect(reportOf(refused).results.map(({ line, state }) => `${line} ${state}`)).toEqual([
      '1 refused',
      '2 refused',
      '3 refused',
      '4 settled',
    ]);
    expect(await outcomeOf(first.id)).toBe('unknown');
  });

  test.each([
    ['without its columns', 'x.csv', 'attempt,result\n1,2\n'],
    ['without attempts', 'x.jsonl', '\n'],
    ['with a repeated column', 'x.csv', 'id,outcome,Outcome\n1,not_sent,succeeded\n'],
    ['with two columns that are read as one', 'x.csv', 'id,attempt_id,outcome\n1,2,not_sent\n'],
    ['that is not UTF-8', 'x.csv', Buffer.from('id,outcome\nM\u00fcller,not_sent\n', 'latin1')],
  ])('refuses a file %s as misuse', async (_, name, content) => {
    const { attempts, file } = desk();
    expect(await attempts(['settle', '--file', file(name, content), ...BECAUSE])).toMatchObject({
      code: 2,
      out: '',
    });
  });

  test('settles nothing of it when the audit log cannot be written', async () => {
    const { attempts, unknown, outcomeOf, file } = desk();
    const { id } = await unknown();
    const jsonl = file('one.jsonl', JSON.stringify({ id, outcome: 'not_sent' }));
    const env = { AUDIT_LOG_FILE: '/dev/null' };
    const refused = await attempts(['settle', '--file', jsonl, '--yes', ...BECAUSE], { env });
    expect(refused.code).toBe(1);
    expect(await outcomeOf(id)).toBe('unknown');
  });
});

describeDesks('attempts settle --all', (desk) => {
  test('settles what the filter selects as not sent, and shows it before', async () => {
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
