import process from 'node:process';
import { AuditLog, type AuditEntry, type AuditFault } from '../../../src/audit/audit-log';

/** What a process is told to do with its log. */
export type Order = { record: AuditEntry[] } | 'close';

/** A process that keeps an audit log and does what its parent says. */
const faults: AuditFault[] = [];
const [path = '', rotateBytes] = process.argv.slice(3);
const rotation = rotateBytes === undefined ? null : { maxBytes: Number(rotateBytes), keepFiles: null };
const log = AuditLog.open(path, (fault) => faults.push(fault), { rotation });

process.on('message', (order: Order) => {
  if (order === 'close') {
    void log.close().then(() => process.disconnect());
    return;
  }
  for (const entry of order.record) log.record(entry);
  process.send?.(faults.splice(0));
});
process.send?.(faults);
