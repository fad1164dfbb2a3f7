import { randomUUID } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { OtherProcess } from '../audit/support/other-process';
import { entry, objectsOf, temporaryFolder, verify } from '../audit/support/files';
import { NOBODY } from './support/doctor';
import { BECAUSE, describeDesks } from './support/settling';

const USER = os.userInfo().username;

describeDesks('attempts settle', (desk) => {
  test('puts who, why and what into the audit log', async () => {
    const { attempts, unknown, linesAbout, outcomeOf, auditFile } = desk();
    const { id, key, channel, method } = await unknown({ kind: 'payout' });
    const transactionId = randomUUID();
    const reason = 'the service found it: Überweisung, ticket 4711';
    const as = { env: { SUDO_USER: 'ann' } };
    const settled = await attempts(
      [
        'settle',
        key,
        'succeeded',
        '--transaction-id',
        transactionId,
        '--reason',
        reason,
        '--by',
        'Ann Example',
      ],
      as,
    );
    expect(settled).toMatchObject({ code: 0, err: '' });
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

  test('writes nothing when there is nothing to settle', async () => {
    const { attempts, unknown, auditFile } = desk();
    const { id } = await unknown();
    expect(await attempts(['settle', id, 'not_sent', ...BECAUSE])).toMatchObject({ code: 0 });
    const before = readFileSync(auditFile, 'utf8');
    expect(await attempts(['settle', id, 'not_sent', ...BECAUSE])).toMatchObject({ code: 0 });
    const other = ['settle', id, 'succeeded', '--transaction-id', randomUUID(), ...BECAUSE];
    expect(await attempts(other)).toMatchObject({ code: 1 });
    expect(await attempts(['settle', 'nothing', 'not_sent', ...BECAUSE])).toMatchObject({ code: 1 });
    expect(readFileSync(auditFile, 'utf8')).toBe(before);
  });

  test('writes nothing and settles nothing without a reason', async () => {
    const { attempts, unknown, outcomeOf, linesAbout } = desk();
    const { id } = await unknown();
    expect(await attempts(['settle', id, 'not_sent'])).toMatchObject({ code: 2 });
    expect(await outcomeOf(id)).toBe('unknown');
    expect(linesAbout(id)).toEqual([]);
  });

  test.each<[string, (folder: string) => string]>([
    [
      'is a folder',
      (folder) => {
        mkdirSync(path.join(folder, 'audit.log'));
        return path.join(folder, 'audit.log');
      },
    ],
    ['is in a folder that does not exist', (folder) => path.join(folder, 'a', 'b', 'audit.log')],
    ['is a device', () => '/dev/null'],
  ])('settles nothing when the audit log %s', async (_, prepare) => {
    const { attempts, unknown, outcomeOf } = desk();
    const { id } = await unknown();
    const env = { AUDIT_LOG_FILE: prepare(temporaryFolder()) };
    const refused = await attempts(['settle', id, 'not_sent', ...BECAUSE], { env });
    expect(refused).toMatchObject({ code: 1, out: '' });
    expect(refused.err).toContain('AUDIT_LOG_FILE');
    expect(await outcomeOf(id)).toBe('unknown');
  });

  test('does not settle an attempt that an instance is sending', async () => {
    const { attempts, unknown, journal, outcomeOf } = desk();
    const { id } = await unknown();
    await desk().store.rows(`UPDATE attempts SET outcome = 'in_progress' WHERE id = '${id}'`);
    expect(await journal.findById(NOBODY, id)).toMatchObject({ outcome: 'in_progress' });
    expect(await attempts(['settle', id, 'not_sent', ...BECAUSE])).toMatchObject({ code: 1 });
    expect(await outcomeOf(id)).toBe('in_progress');
  });

  test('refuses an attempt that an instance is looking for, and settles it afterwards', async () => {
    const { attempts, unknown, journal, outcomeOf, linesAbout } = desk();
    const { id } = await unknown();
    const now = Date.now();
    const claim = { service: NOBODY, owner: 'instance', now, leaseUntil: now + 600_000 };
    expect(await journal.claim(id, claim)).not.toBeNull();
    expect(await attempts(['settle', id, 'not_sent', ...BECAUSE])).toMatchObject({ code: 1 });
    expect(await outcomeOf(id)).toBe('unknown');
    expect(linesAbout(id)).toEqual([]);
    await journal.settle(id, { outcome: 'unknown', nextCheckAt: now });
    expect(await attempts(['settle', id, 'not_sent', ...BECAUSE])).toMatchObject({ code: 0 });
    expect(await outcomeOf(id)).toBe('not_sent');
  });

  test('and other processes write one audit log in which nothing is missing', async () => {
    const { attempts, unknown, auditFile, linesAbout } = desk();
    const settled = await Promise.all([1, 2, 3].map(() => unknown()));
    const gateway = await OtherProcess.start(auditFile);
    const calls = Array.from({ length: 3000 }, (_, place) => entry({ key: `call-${place}` }));
    const [faults, ...ran] = await Promise.all([
      gateway.record(...calls),
      ...settled.map(({ id }) => attempts(['settle', id, 'not_sent', ...BECAUSE])),
    ]);
    await gateway.close();
    expect(faults).toEqual([]);
    expect(ran.map(({ code }) => code)).toEqual([0, 0, 0]);
    for (const { id } of settled) expect(linesAbout(id)).toHaveLength(1);
    expect(await verify(auditFile)).toMatchObject({ faults: [], notes: [] });
    expect(objectsOf(auditFile).filter(({ event }) => event === 'call')).toHaveLength(3000);
  });
});

const asRoot = process.getuid?.() === 0 ? test : test.skip;
if (process.getuid?.() !== 0) console.warn('SKIPPED: only root can act as another user.');

describeDesks('attempts settle of another user than the gateway', (desk) => {
  asRoot('does not make an audit log that the gateway could not write', async () => {
    const { attempts, unknown, outcomeOf, auditFile } = desk();
    const { id } = await unknown();
    const folder = path.dirname(auditFile);
    rmSync(auditFile, { force: true });
    chownSync(folder, 65534, 65534);
    expect(await attempts(['settle', id, 'not_sent', ...BECAUSE])).toMatchObject({ code: 1 });
    expect(existsSync(auditFile)).toBe(false);
    expect(await outcomeOf(id)).toBe('unknown');
  });
});
