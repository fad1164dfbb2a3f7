import path from 'node:path';
import { ChildProcess } from '../../support/child-process';
import type { AuditHandlers } from './audit-child';

export type AuditProcess = ChildProcess<AuditHandlers>;

/** Starts a process that records calls in an audit log, and rotates it at that size; resolves when it has opened the log. */
export const startAuditProcess = (file: string, rotateBytes?: number): Promise<AuditProcess> =>
  ChildProcess.start<AuditHandlers>(path.join(__dirname, 'audit-child.ts'), {
    args: rotateBytes === undefined ? [file] : [file, String(rotateBytes)],
  });

/** Closes its log and resolves when it has ended. */
export async function closeAuditProcess(child: AuditProcess): Promise<void> {
  child.call('close').catch(() => undefined);
  await child.ended;
}
