import { AuditLog, type AuditEntry, type AuditLogNotice } from '../../../src/observability/audit/audit-log';
import { serve } from '../../support/child-handlers';

/** A process that records calls in an audit log at the request of its parent. */

const faults: AuditLogNotice[] = [];
const [path = '', rotateBytes] = process.argv.slice(3);
const rotation = rotateBytes === undefined ? null : { maxBytes: Number(rotateBytes), keptFileCount: null };
let log: AuditLog;

const handlers = {
  /** Records calls one after the other; returns the problems that the log has reported since the last call. */
  record: (entries: AuditEntry[]): AuditLogNotice[] => {
    for (const entry of entries) log.recordMutation(entry);
    return faults.splice(0);
  },
  /** Closes the log and ends the process. */
  close: async (): Promise<void> => {
    await log.close();
    process.disconnect();
  },
};

export type AuditHandlers = typeof handlers;

serve(
  handlers,
  (async () => {
    log = AuditLog.open(path, (fault) => faults.push(fault), { rotation });
  })(),
);
