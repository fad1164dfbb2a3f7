import { JournalBusy, type Journal } from './journal';
import { faultOf, type JournalFault } from './journal-error';

/** What a journal can be asked. */
export type JournalCall = Exclude<keyof Journal, 'deadlineMs' | 'close'>;

/** Hears of what a journal was asked, when it has ended; null where it was done. Must not throw. */
export type JournalListener = (call: JournalCall, fault: JournalFault | null, ms: number) => void;

/** The same journal, of which somebody hears what it is asked, how long that takes and whether it fails. */
export function instrumentJournal(journal: Journal, heard: JournalListener): Journal {
  const observed =
    <A extends unknown[], R>(call: JournalCall, ask: (...args: A) => Promise<R>) =>
    (...args: A): Promise<R> => {
      const startedAt = performance.now();
      const asked = ask.apply(journal, args);
      const ended = (fault: JournalFault | null): void => heard(call, fault, performance.now() - startedAt);
      asked.then(
        () => ended(null),
        // A list that is refused because others are being read is no fault of the journal.
        (error: unknown) => ended(error instanceof JournalBusy ? null : faultOf(error)),
      );
      return asked;
    };
  return {
    deadlineMs: journal.deadlineMs,
    insertAttempt: observed('insertAttempt', journal.insertAttempt),
    recordOutcome: observed('recordOutcome', journal.recordOutcome),
    find: observed('find', journal.find),
    findByTransaction: observed('findByTransaction', journal.findByTransaction),
    hasRival: observed('hasRival', journal.hasRival),
    createdBeside: observed('createdBeside', journal.createdBeside),
    findCreated: observed('findCreated', journal.findCreated),
    list: observed('list', journal.list),
    renew: observed('renew', journal.renew),
    claim: observed('claim', journal.claim),
    claimDue: observed('claimDue', journal.claimDue),
    beginConfirm: observed('beginConfirm', journal.beginConfirm),
    endConfirm: observed('endConfirm', journal.endConfirm),
    confirmedInputs: observed('confirmedInputs', journal.confirmedInputs),
    findById: observed('findById', journal.findById),
    findAny: observed('findAny', journal.findAny),
    unknown: observed('unknown', journal.unknown),
    countUnknown: observed('countUnknown', journal.countUnknown),
    purgeStep: observed('purgeStep', journal.purgeStep),
    time: observed('time', journal.time),
    checkWrite: observed('checkWrite', journal.checkWrite),
    ping: observed('ping', journal.ping),
    close: () => journal.close(),
  };
}
