import { JournalBusy, type Journal } from './journal';
import { faultOf, type JournalFault } from './journal-error';

/** Called after each call of the journal; `fault` is null when it succeeded. Must not throw. */
export type JournalListener = (call: string, fault: JournalFault | null, ms: number) => void;

type Method = (...args: unknown[]) => Promise<unknown>;

/** Wraps a journal and reports the duration and result of all calls but `close`. */
export function instrumentJournal(journal: Journal, onCall: JournalListener): Journal {
  const instrument = (call: string, method: Method): Method => {
    return (...args) => {
      const startedAt = performance.now();
      const result = method(...args);
      const ended = (fault: JournalFault | null): void => onCall(call, fault, performance.now() - startedAt);
      result.then(
        () => ended(null),
        // A list rejected because too many are queued is no failure of the journal.
        (error: unknown) => ended(error instanceof JournalBusy ? null : faultOf(error)),
      );
      return result;
    };
  };
  const methods = new Map<string | symbol, Method>();
  return new Proxy(journal, {
    get: (target, name) => {
      const value: unknown = methods.get(name) ?? Reflect.get(target, name);
      if (typeof value !== 'function' || methods.has(name)) return value;
      const method = value.bind(target) as Method;
      const instrumented = name === 'close' ? method : instrument(String(name), method);
      methods.set(name, instrumented);
      return instrumented;
    },
  });
}
