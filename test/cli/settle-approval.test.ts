import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { verify } from '../audit/support/files';
import { BECAUSE, describeDesks, type Desk } from './support/settling';

const isRoot = process.getuid?.() === 0;
if (!isRoot) console.warn('SKIPPED: only root can act as several users of the operating system.');
const asRoot = isRoot ? test : test.skip;

/** The users "nobody" and "daemon" of every Linux. */
const ANN = { uid: 65_534, env: { SETTLE_APPROVAL: 'on' } };
const BOB = { uid: 1, env: {} };

interface Proposal {
  id: string;
  proposedBy: string;
  by: string | null;
  attempts: { id: string; outcome: string }[];
}

/** Lets several users of one group write to the journal and the audit log; others cannot, or the gateway would take the group's rights too. */
function share({ store, auditFile }: Desk): void {
  const files = [auditFile];
  if (!existsSync(auditFile)) writeFileSync(auditFile, '');
  chmodSync(path.dirname(auditFile), 0o777);
  if (store.kind === 'SQLite') {
    const folder = path.dirname(store.url.slice('file:'.length));
    chmodSync(folder, 0o770);
    files.push(...readdirSync(folder).map((name) => path.join(folder, name)));
  }
  files.forEach((file) => chmodSync(file, 0o660));
}

const proposalsOf = async ({ attempts }: Desk): Promise<Proposal[]> =>
  JSON.parse((await attempts(['proposals', '--json'])).out) as Proposal[];

const proposalOf = async (desk: Desk, id: string): Promise<Proposal> =>
  (await proposalsOf(desk)).find(({ attempts }) => attempts.some((each) => each.id === id))!;

describeDesks('With SETTLE_APPROVAL=on', (desk) => {
  asRoot('a settle is proposed by one user and carried out by another', async () => {
    const { attempts, unknown, outcomeOf, linesAbout, auditFile } = desk();
    const { id } = await unknown();
    share(desk());
    const settle = ['settle', id, 'not_sent', ...BECAUSE, '--by', 'Ann'];
    expect(await attempts(settle, ANN)).toMatchObject({ code: 0 });
    expect(await outcomeOf(id)).toBe('unknown');
    const proposal = await proposalOf(desk(), id);
    expect(proposal).toMatchObject({
      proposedBy: 'nobody',
      by: 'Ann',
      attempts: [{ id, outcome: 'not_sent' }],
    });

    // The same person: another name, or by sudo as another user.
    const approve = ['approve', proposal.id];
    expect(await attempts([...approve, '--by', 'Bob'], ANN)).toMatchObject({ code: 1 });
    const sudo = { ...BOB, env: { SUDO_USER: 'nobody' } };
    expect(await attempts(approve, sudo)).toMatchObject({ code: 1 });
    expect(await outcomeOf(id)).toBe('unknown');

    expect(await attempts([...approve, '--by', 'Bob'], BOB)).toMatchObject({ code: 0 });
    expect(await outcomeOf(id)).toBe('not_sent');
    expect(linesAbout(id)).toMatchObject([
      { event: 'proposed', who: 'operator:nobody', by: 'Ann', proposal: proposal.id, reason: BECAUSE[1] },
      {
        event: 'settled',
        who: 'operator:daemon',
        by: 'Bob',
        proposal: proposal.id,
        proposedBy: 'operator:nobody',
        reason: BECAUSE[1],
      },
    ]);
    expect(await attempts(approve, BOB)).toMatchObject({ code: 1 });
    expect((await verify(auditFile)).faults).toEqual([]);
  });

  asRoot('those of a file are one proposal; what cannot be settled any more is refused', async () => {
    const { attempts, unknown, outcomeOf, file } = desk();
    const [first, second] = [await unknown(), await unknown()];
    share(desk());
    const csv = file('a.csv', `id,outcome\n${first.id},not_sent\n${second.id},not_sent\n`);
    chmodSync(path.dirname(csv), 0o755);
    const many = ['settle', '--file', csv, ...BECAUSE];
    expect(await attempts(many, ANN)).toMatchObject({ code: 0 });
    expect(await proposalsOf(desk())).toEqual([]);
    expect(await attempts([...many, '--yes'], ANN)).toMatchObject({ code: 0 });
    const proposal = await proposalOf(desk(), first.id);
    expect(proposal.attempts).toHaveLength(2);
    await desk().journal.settle(second.id, {
      outcome: 'succeeded',
      transactionId: 't1',
      status: 'COMPLETED',
      settledAt: Date.now(),
    });
    expect(await attempts(['approve', proposal.id], BOB)).toMatchObject({ code: 1 });
    expect([await outcomeOf(first.id), await outcomeOf(second.id)]).toEqual(['not_sent', 'succeeded']);
    expect((await proposalOf(desk(), second.id)).attempts).toMatchObject([{ id: second.id }]);
  });

  asRoot('a proposal can be withdrawn, and expires', async () => {
    const { attempts, unknown, linesAbout, store } = desk();
    const [first, second] = [await unknown(), await unknown()];
    share(desk());
    for (const { id } of [first, second]) await attempts(['settle', id, 'not_sent', ...BECAUSE], ANN);
    const withdrawn = await proposalOf(desk(), first.id);
    expect(await attempts(['withdraw', withdrawn.id, '--reason', 'a mistake'], BOB)).toMatchObject({
      code: 0,
    });
    expect(linesAbout(first.id).at(-1)).toMatchObject({
      event: 'withdrawn',
      who: 'operator:daemon',
      proposedBy: 'operator:nobody',
      reason: 'a mistake',
    });
    const expired = await proposalOf(desk(), second.id);
    await store.rows(
      `UPDATE settlement_proposals SET expires_at = ${Date.now()} WHERE id = '${expired.id}' RETURNING id`,
    );
    for (const { id } of [withdrawn, expired])
      expect(await attempts(['approve', id], BOB)).toMatchObject({ code: 1 });
    expect(await desk().outcomeOf(second.id)).toBe('unknown');
  });

  asRoot('nothing is proposed when the audit log cannot be written', async () => {
    const { attempts, unknown } = desk();
    const { id } = await unknown();
    share(desk());
    const env = { SETTLE_APPROVAL: 'on', AUDIT_LOG_FILE: '/dev/null' };
    expect(await attempts(['settle', id, 'not_sent', ...BECAUSE], { env })).toMatchObject({ code: 1 });
    expect(await proposalOf(desk(), id)).toBeUndefined();
  });
});
