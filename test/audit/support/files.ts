import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { AuditLog, type AuditEntry, type AuditLogNotice } from '../../../src/observability/audit/audit-log';
import type { RotationSettings } from '../../../src/observability/audit/rotation';
import { AuditLogVerifier, type AuditFinding } from '../../../src/observability/audit/verifier';
import { CHANNEL } from '../../support/caller';
import { ChildProcess } from '../../support/child-process';
import { temporaryFolder } from '../../support/manifests';
import type { AuditHandlers } from './audit-child';

export { temporaryFolder };

/** Returns the path of a log that does not exist yet, in a new folder. */
export const temporaryLog = (): string => path.join(temporaryFolder(), 'audit.log');

/** Returns the audit entry of a call. */
export const entry = (facts: Partial<AuditEntry> = {}): AuditEntry => ({
  who: 'service:shop',
  operation: 'createPayment',
  key: 'order-1',
  channel: CHANNEL,
  method: 'qris',
  amount: { currency: 'IDR', value: '10000.00' },
  outcome: 'PaymentSuccess',
  replayed: false,
  transactionId: '0d6e2f8a-9c43-4b1e-8f57-6a1b2c3d4e5f',
  requestId: 'req-1',
  ip: '127.0.0.1',
  ...facts,
});

/** Opens a log. `faults` receives the problems that the log reports. */
export function openLog(
  file: string,
  rotation: RotationSettings | null = null,
  key: string | null = null,
): { log: AuditLog; faults: AuditLogNotice[] } {
  const faults: AuditLogNotice[] = [];
  return { log: AuditLog.open(file, (fault) => faults.push(fault), { rotation, hmacKey: key }), faults };
}

/** Opens a log, records calls with these keys, and closes it. */
export async function writeLog(file: string, ...keys: string[]): Promise<void> {
  const { log, faults } = openLog(file);
  keys.forEach((key) => log.recordMutation(entry({ key })));
  await log.close();
  expect(faults).toEqual([]);
}

export const linesOf = (file: string): string[] => readFileSync(file, 'utf8').split('\n').slice(0, -1);

export const putLines = (file: string, lines: readonly string[]): void =>
  writeFileSync(file, lines.map((line) => `${line}\n`).join(''));

type Line = Record<string, unknown> & Partial<AuditEntry>;

/** Returns the parsed lines of a log. */
export const objectsOf = (file: string): Line[] =>
  linesOf(file)
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);

/** Returns the parsed lines of a log that record calls. */
export const callsOf = (file: string): Line[] => objectsOf(file).filter(({ event }) => event === 'call');

/** Verifies log files in this order. `expected` are seals, `key` is AUDIT_LOG_KEY. */
export async function verify(
  files: string | readonly string[],
  expected: readonly string[] = [],
  key: string | null = null,
): Promise<{ verifier: AuditLogVerifier; faults: AuditFinding[]; notes: AuditFinding[] }> {
  const findings: AuditFinding[] = [];
  const verifier = new AuditLogVerifier((finding) => findings.push(finding), key, expected);
  for (const file of [files].flat()) await verifier.verifyFile(file);
  return {
    verifier,
    faults: findings.filter(({ isFault }) => isFault),
    notes: findings.filter(({ isFault }) => !isFault),
  };
}

/** Starts a process with an open audit log, which it rotates at `rotateBytes`; never if that is undefined. */
export const startAuditProcess = (file: string, rotateBytes?: number): Promise<AuditProcess> =>
  ChildProcess.start<AuditHandlers>(path.join(__dirname, 'audit-child.ts'), {
    args: rotateBytes === undefined ? [file] : [file, String(rotateBytes)],
  });

type AuditProcess = ChildProcess<AuditHandlers>;

/** Closes the log of the process. Resolves when the process has ended. */
export async function closeAuditProcess(child: AuditProcess): Promise<void> {
  child.call('close').catch(() => undefined);
  await child.ended;
}
