import { PositionExpired } from './changes';
import { AttemptMissing } from './fence';
import { JournalBusy, type Journal } from './journal';
import { describeJournalError, type JournalErrorInfo } from './journal-error';

/**
 * Called when a journal call has ended. `call`: name of the method. `fault`: the error; null if the call succeeded, or
 * if a working journal refused the call (see isRefusal). `ms`: duration of the call.
 */
export type JournalCallListener = (call: string, fault: JournalErrorInfo | null, ms: number) => void;

/** Wraps a journal, so that the end of every call is reported to `onCall`. Calls of close() are not reported. */
export const instrumentJournal = (journal: Journal, onCall: JournalCallListener): Journal =>
  new Proxy(journal, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      const method = value.bind(target) as (...args: unknown[]) => Promise<unknown>;
      if (name === 'close') return method;
      return (...args: unknown[]) => {
        const startedAt = performance.now();
        const result = method(...args);
        const reportEnd = (fault: JournalErrorInfo | null): void =>
          onCall(String(name), fault, performance.now() - startedAt);
        result.then(
          () => reportEnd(null),
          (error: unknown) => reportEnd(isRefusal(error) ? null : describeJournalError(error)),
        );
        return result;
      };
    },
  });

/**
 * Whether an error means that a working journal refused a call: too many calls of list() are queued, the changes after
 * the requested position were deleted, or the journal does not have the attempt. Such an error is not reported as a
 * fault of the journal.
 */
const isRefusal = (error: unknown): boolean =>
  error instanceof JournalBusy || error instanceof PositionExpired || error instanceof AttemptMissing;
