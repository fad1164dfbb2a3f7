import { PositionExpired } from './changes';
import { AttemptMissing } from './fence';
import { JournalBusy, type Journal } from './journal';
import { describeJournalError, type JournalErrorInfo } from './journal-error';

/**
 * Called when a journal call has ended. `call`: name of the method. `fault`: the error; null if the call succeeded, or
 * if a working journal refused it (see isRefusal). `ms`: duration.
 */
export type JournalCallListener = (call: string, fault: JournalErrorInfo | null, ms: number) => void;

/** Wraps a journal. Reports every call, except of close(), to `onCall`. */
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

/** Whether a working journal refused a call: too many queued lists, an expired position, or a missing attempt. */
const isRefusal = (error: unknown): boolean =>
  error instanceof JournalBusy || error instanceof PositionExpired || error instanceof AttemptMissing;
