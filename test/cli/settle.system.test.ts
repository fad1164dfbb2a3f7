import { randomUUID } from 'node:crypto';
import { chownSync, existsSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { objectsOf, verify } from '../audit/support/files';
import { OUTCOMES } from '../journal/support/samples';
import { until } from '../support/latch';
import { NOBODY } from './support/doctor';
import { BECAUSE, USER, describeDesks, type Desk } from './support/settling';

const ANN = { user: 'ann', env: { SETTLE_APPROVAL: 'on' } };
const BOB = { user: 'bob' };

interface Proposal {
  id: string;
  proposedBy: string;
  by: string | null;
  attempts: { id: string; outcome: string }[];
}

const proposalsOf = async ({ attempts }: Desk): Promise<Proposal[]> =>
  JSON.parse((await attempts(['proposals', '--json'])).out) as Proposal[];

const proposalOf = async (desk: Desk, id: string): Promise<Proposal> =>
  (await proposalsOf(desk)).find(({ attempts }) => attempts.some((each) => each.id === id))!;

const asRoot = process.getuid?.() === 0 ? test : test.skip;

describeDesks('The command `attempts settle`', (desk) => {
  test('records in the audit log who settled which attempt, and why', async () => {
    const { attempts, unknown, linesAbout, outcomeOf, auditFile } = desk();
    const { id, key, channel, method } = await unknown({ kind: 'payout' });
    const transactionId = randomUUID();
    const reason = 'the service found it: Überweisung, ticket 4711';
    const as = { env: { SUDO_USER: 'ann' } };
    const settle = ['settle', key, 'succeeded', '--transaction-id', transactionId];
    const settled = await attempts([...settle, '--reason', reason, '--by', 'Ann Example', '--json'], as);
    expect(settled).toMatchObject({ code: 0, err: '' });
    expect(JSON.parse(settled.out)).toMatchObject({ id, outcome: 'succeeded', transactionId });
    expect(await outcomeOf(id)).toBe('succeeded');
    expect(linesAbout(id)).toMatchObject([
      {
        event: 'settled',
        who: `operator:${USER}`,
        sudoUser: 'ann',
        by: 'Ann Example',
        reason,
        attempt: id,
        client: 'shop',
        operation: 'createPayout',
        key,
        channel,
        method,
        amount: { currency: 'EUR', value: '10.00' },
        oldOutcome: 'unknown',
        outcome: 'succeeded',
        transactionId,
      },
    ]);
    expect(await verify(auditFile)).toMatchObject({ faults: [], notes: [] });
  });

  test('writes nothing to the audit log if the attempt does not exist or is already settled', async () => {
    const { attempts, unknown, auditFile } = desk();
    const { id } = await unknown();
    expect(await attempts(['settle', id, 'not_sent', ...BECAUSE])).toMatchObject({ code: 0 });
    const before = readFileSync(auditFile, 'utf8');
    expect(await attempts(['settle', id, 'not_sent', ...BECAUSE])).toMatchObject({ code: 0 });
    const other = ['settle', id, 'succeeded', '--transaction-id', randomUUID(), ...BECAUSE];
    const refused = { code: 1, out: '', err: expect.stringContaining('not_sent') };
    expect(await attempts(other)).toMatchObject(refused);
    expect((await attempts(['list'])).out).not.toContain(id);
    expect(await attempts(['settle', 'nothing', 'not_sent', ...BECAUSE])).toMatchObject({ code: 1 });
    expect(readFileSync(auditFile, 'utf8')).toBe(before);
  });

  test.each(['off', 'on'])(
    'settles and proposes nothing if the audit log cannot be written (SETTLE_APPROVAL=%s)',
    async (SETTLE_APPROVAL) => {
      const { attempts, unknown, outcomeOf } = desk();
      const { id } = await unknown();
      const env = { AUDIT_LOG_FILE: '/dev/null', SETTLE_APPROVAL };
      const refused = await attempts(['settle', id, 'not_sent', ...BECAUSE], { env });
      expect(refused).toMatchObject({ code: 1, out: '', err: expect.stringContaining('AUDIT_LOG_FILE') });
      expect(await outcomeOf(id)).toBe('unknown');
      expect(await proposalOf(desk(), id)).toBeUndefined();
    },
  );

  test('refuses to settle an attempt while a gateway instance holds its lease, and settles it afterwards', async () => {
    const { attempts, unknown, journal, outcomeOf, linesAbout } = desk();
    const { id } = await unknown();
    const now = Date.now();
    const claim = { service: NOBODY, owner: 'instance', now, leaseUntil: now + 600_000 };
    expect(await journal.claim(id, claim)).not.toBeNull();
    // The command waits for 15 s, on a clock that runs 200 times as fast.
    const { now: realNow } = performance;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => 200 * realNow.call(performance));
    expect(await attempts(['settle', id, 'not_sent', ...BECAUSE])).toMatchObject({ code: 1 });
    clock.mockRestore();
    expect(await outcomeOf(id)).toBe('unknown');
    expect(linesAbout(id)).toEqual([]);
    await journal.recordOutcome(id, { outcome: 'unknown', nextRecheckAt: now });
    expect(await attempts(['settle', id, 'not_sent', ...BECAUSE])).toMatchObject({ code: 0 });
    expect(await outcomeOf(id)).toBe('not_sent');
  });

  asRoot(
    'settles nothing if another user owns the folder of the audit log (SKIPPED without root)',
    async () => {
      const { attempts, unknown, outcomeOf, auditFile } = desk();
      const { id } = await unknown();
      const folder = path.dirname(auditFile);
      rmSync(auditFile, { force: true });
      chownSync(folder, 65534, 65534);
      expect(await attempts(['settle', id, 'not_sent', ...BECAUSE])).toMatchObject({ code: 1 });
      expect(existsSync(auditFile)).toBe(false);
      expect(await outcomeOf(id)).toBe('unknown');
    },
  );
});

describeDesks('The command `attempts settle` with SETTLE_APPROVAL=on', (desk) => {
  test('makes a proposal, which only another user can approve', async () => {
    const { attempts, unknown, outcomeOf, linesAbout, auditFile } = desk();
    const { id } = await unknown();
    const settle = ['settle', id, 'not_sent', ...BECAUSE, '--by', 'Ann'];
    expect(await attempts(settle, ANN)).toMatchObject({ code: 0 });
    expect(await outcomeOf(id)).toBe('unknown');
    const proposal = await proposalOf(desk(), id);
    const attempt = { id, outcome: 'not_sent' };
    expect(proposal).toMatchObject({ proposedBy: 'ann', by: 'Ann', attempts: [attempt] });

    // The proposer cannot approve, neither under another name nor through sudo.
    const approve = ['approve', proposal.id];
    expect(await attempts([...approve, '--by', 'Bob'], ANN)).toMatchObject({ code: 1 });
    const sudo = { ...BOB, env: { SUDO_USER: 'ann' } };
    expect(await attempts(approve, sudo)).toMatchObject({ code: 1 });
    expect(await outcomeOf(id)).toBe('unknown');

    expect(await attempts([...approve, '--by', 'Bob'], BOB)).toMatchObject({ code: 0 });
    expect(await outcomeOf(id)).toBe('not_sent');
    expect(linesAbout(id)).toMatchObject([
      { event: 'proposed', who: 'operator:ann', by: 'Ann', proposal: proposal.id, reason: BECAUSE[1] },
      {
        event: 'settled',
        who: 'operator:bob',
        by: 'Bob',
        proposal: proposal.id,
        proposedBy: 'operator:ann',
        reason: BECAUSE[1],
      },
    ]);
    expect(await attempts(approve, BOB)).toMatchObject({ code: 1 });
    expect((await verify(auditFile)).faults).toEqual([]);
  });

  test('makes, when run through sudo, a proposal that the user of SUDO_USER cannot approve', async () => {
    const { attempts, unknown, outcomeOf } = desk();
    const { id } = await unknown();
    const bySudo = { user: 'root', env: { ...ANN.env, SUDO_USER: 'ann' } };
    expect(await attempts(['settle', id, 'not_sent', ...BECAUSE], bySudo)).toMatchObject({ code: 0 });
    const { id: proposal } = await proposalOf(desk(), id);
    for (const who of [{ user: 'ann' }, { user: 'bob', env: { SUDO_USER: 'ann' } }])
      expect(await attempts(['approve', proposal], who)).toMatchObject({ code: 1 });
    expect(await outcomeOf(id)).toBe('unknown');
    expect(await attempts(['withdraw', proposal, ...BECAUSE], BOB)).toMatchObject({ code: 0 });
  });

  test('makes one proposal for a whole file; the approval settles only attempts that are still unknown', async () => {
    const { attempts, unknown, outcomeOf, file } = desk();
    const [first, second] = [await unknown(), await unknown()];
    const csv = file('a.csv', `id,outcome\n${first.id},not_sent\n${second.id},not_sent\n`);
    const many = ['settle', '--file', csv, ...BECAUSE];
    expect(await attempts(many, ANN)).toMatchObject({ code: 0 });
    expect(await proposalsOf(desk())).toEqual([]);
    expect(await attempts([...many, '--yes'], ANN)).toMatchObject({ code: 0 });
    const proposal = await proposalOf(desk(), first.id);
    expect(proposal.attempts).toHaveLength(2);
    await desk().journal.recordOutcome(second.id, OUTCOMES.succeeded);
    expect(await attempts(['approve', proposal.id], BOB)).toMatchObject({ code: 1 });
    expect([await outcomeOf(first.id), await outcomeOf(second.id)]).toEqual(['not_sent', 'succeeded']);
    expect((await proposalOf(desk(), second.id)).attempts).toMatchObject([{ id: second.id }]);
  });

  test('makes a proposal whose approval settles nothing if the proposal is withdrawn while the approval waits for a lease', async () => {
    const { attempts, unknown, outcomeOf, journal, auditFile } = desk();
    const { id } = await unknown();
    await attempts(['settle', id, 'not_sent', ...BECAUSE], ANN);
    const proposal = await proposalOf(desk(), id);
    const now = Math.floor(await journal.time());
    await journal.claim(id, { service: NOBODY, owner: 'gateway', now, leaseUntil: now + 600_000 });
    const openings = () => objectsOf(auditFile).filter(({ event }) => event === 'opened').length;
    const openingsBefore = openings();
    const approving = attempts(['approve', proposal.id], BOB);
    await until(() => openings() > openingsBefore);
    expect(await attempts(['withdraw', proposal.id, ...BECAUSE], ANN)).toMatchObject({ code: 0 });
    await journal.recordOutcome(id, { outcome: 'unknown', nextRecheckAt: now });
    expect(await approving).toMatchObject({ code: 1 });
    expect(await outcomeOf(id)).toBe('unknown');
  });

  test('makes a proposal whose approval settles no other attempt that has the id as its idempotency key', async () => {
    const { attempts, unknown, outcomeOf, store } = desk();
    const { id } = await unknown();
    await attempts(['settle', id, 'not_sent', ...BECAUSE], ANN);
    const proposal = await proposalOf(desk(), id);
    // As if the attempt had been settled and purged meanwhile.
    await store.rows('DELETE FROM stored_attempts RETURNING seq');
    const other = await unknown({ key: id });
    expect(await attempts(['approve', proposal.id], BOB)).toMatchObject({ code: 1 });
    expect(await outcomeOf(other.id)).toBe('unknown');
  });

  test('makes a proposal that cannot be approved after it was withdrawn or has expired', async () => {
    const { attempts, unknown, linesAbout, store } = desk();
    const [first, second] = [await unknown(), await unknown()];
    for (const { id } of [first, second]) await attempts(['settle', id, 'not_sent', ...BECAUSE], ANN);
    const withdrawn = await proposalOf(desk(), first.id);
    const reason = 'a mistake';
    expect(await attempts(['withdraw', withdrawn.id, '--reason', reason], BOB)).toMatchObject({ code: 0 });
    const line = { event: 'withdrawn', who: 'operator:bob', proposedBy: 'operator:ann', reason };
    expect(linesAbout(first.id).at(-1)).toMatchObject(line);
    const expired = await proposalOf(desk(), second.id);
    await store.rows(
      `UPDATE settlement_proposals SET expires_at = ${Date.now()} WHERE id = '${expired.id}' RETURNING id`,
    );
    for (const { id } of [withdrawn, expired])
      expect(await attempts(['approve', id], BOB)).toMatchObject({ code: 1 });
    expect(await desk().outcomeOf(second.id)).toBe('unknown');
  });
});
