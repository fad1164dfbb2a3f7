import { PositionExpired } from './changes';
import { AttemptMissing } from './fence';
import { JournalBusy, type Journal } from './journal';
import { describeJournalError, type JournalErrorInfo } from './journal-error';

/**
 * Called when a journal call has ended. `methodName`: the called method. `fault`: the error; null if the call
 * succeeded, or if a working journal refused the call (see isRefusal). `ms`: duration of the call.
 */
export type JournalCallListener = (methodName: string, fault: JournalErrorInfo | null, ms: number) => void;

/** Runs a journal call, for tracing. `name` and `args`: name and arguments of the method that `call` calls. */
type JournalCallRunner = <T>(name: string, args: readonly unknown[], call: () => Promise<T>) => Promise<T>;

/** Wraps a journal, so that `run` runs every call and its end is reported to `onCall`, except calls of close(). */
export const instrumentJournal = (
  journal: Journal,
  onCall: JournalCallListener,
  run: JournalCallRunner = (_name, _args, call) => call(),
): Journal =>
  new Proxy(journal, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      const method = value.bind(target) as (...args: unknown[]) => Promise<unknown>;
      if (name === 'close') return method;
      return (...args: unknown[]) => {
        const startedAt = performance.now();
        const result = run(String(name), args, () => method(...args));
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
