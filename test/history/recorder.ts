import type { HistoryLine, Invocation, JournalSettings, Operation, Result } from './format';

/** Results and GraphQL errors after which a call has certainly created or confirmed nothing (docs/results.md). */
const NOTHING_DONE: ReadonlySet<string | undefined> = new Set([
  'InvalidInputError',
  'RejectedByServiceError',
  'IdempotencyConflictError',
  'RequestInProgressError',
  'SERVICE_UNAVAILABLE',
  'SERVICE_AUTH_FAILED',
  'RATE_LIMITED',
  'BAD_USER_INPUT',
]);

function eventOf(operation: Operation, { type, error }: Result): 'ok' | 'fail' | 'unknown' {
  const isMutation = operation === 'confirmPayment' || operation.startsWith('create');
  if (!isMutation) return error === undefined ? 'ok' : 'fail';
  if (type?.endsWith('Success')) return 'ok';
  return NOTHING_DONE.has(type ?? error) ? 'fail' : 'unknown';
}

export class Recorder {
  #calls = 0;

  /** @param now returns the time in ms on a monotonic clock */
  constructor(
    private readonly write: (line: HistoryLine) => void,
    private readonly now: () => number,
  ) {}

  settings(settings: JournalSettings): void {
    this.write({ event: 'settings', time: this.now(), ...settings });
  }

  fault(name: string): void {
    this.write({ event: 'fault', time: this.now(), name });
  }

  invoke(call: Pick<Invocation, 'process' | 'operation' | 'key' | 'input'>): (result: Result) => void {
    this.#calls += 1;
    const { process, operation, key, input } = call;
    const event = { process, call: this.#calls, operation, key };
    this.write({ event: 'invoke', time: this.now(), ...event, input });
    return (result) => this.write({ event: eventOf(operation, result), time: this.now(), ...event, result });
  }
}
