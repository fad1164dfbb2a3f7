import path from 'node:path';
import { ChildProcess } from '../../support/child-process';
import type { AuditHandlers } from './audit-child';

export type AuditProcess = ChildProcess<AuditHandlers>;

/** Starts a process with an open audit log, which it rotates at `rotateBytes`; never if that is undefined. */
export const startAuditProcess = (file: string, rotateBytes?: number): Promise<AuditProcess> =>
  ChildProcess.start<AuditHandlers>(path.join(__dirname, 'audit-child.ts'), {
    args: rotateBytes === undefined ? [file] : [file, String(rotateBytes)],
  });

/** Closes the log of the process. Resolves when the process has ended. */
export async function closeAuditProcess(child: AuditProcess): Promise<void> {
  child.call('close').catch(() => undefined);
  await child.ended;
}
