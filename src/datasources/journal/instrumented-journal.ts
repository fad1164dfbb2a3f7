import { PositionExpired } from './changes';
import { AttemptMissing } from './fence';
import { JournalBusy, type Journal } from './journal';
import { classifyJournalError, type JournalErrorInfo } from './journal-error';

/**
 * Called when a journal call has ended. `methodName`: the called method. `fault`: the error; null if the call
 * succeeded, or if a working journal refused the call (see isRefusal). `ms`: duration of the call in ms.
 */
export type JournalCallListener = (methodName: string, fault: JournalErrorInfo | null, ms: number) => void;

/** Runs a journal call, for tracing. `methodName` and `args`: name and arguments of the method that `call` calls. */
type RunJournalCall = <T>(methodName: string, args: readonly unknown[], call: () => Promise<T>) => Promise<T>;

/** Wraps a journal: `runCall` runs every call except close(), and `onCallEnd` is called when the call has ended. */
export const instrumentJournal = (
  journal: Journal,
  onCallEnd: JournalCallListener,
  runCall: RunJournalCall = (_methodName, _args, call) => call(),
): Journal =>
  new Proxy(journal, {
    get: (target, propertyName) => {
      const propertyValue: unknown = Reflect.get(target, propertyName);
      if (typeof propertyValue !== 'function') return propertyValue;
      const boundMethod = propertyValue.bind(target) as (...args: unknown[]) => Promise<unknown>;
      if (propertyName === 'close') return boundMethod;
      return (...args: unknown[]) => {
        const startedAt = performance.now();
        const result = runCall(String(propertyName), args, () => boundMethod(...args));
        const reportEnd = (fault: JournalErrorInfo | null): void =>
          onCallEnd(String(propertyName), fault, performance.now() - startedAt);
        result.then(
          () => reportEnd(null),
          (error: unknown) => reportEnd(isRefusal(error) ? null : classifyJournalError(error)),
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
