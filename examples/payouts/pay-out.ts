import { setTimeout as sleep } from 'node:timers/promises';
import { CreatePayoutDocument, type CreatePayoutMutation, type PayoutFieldsFragment } from '@paygraph/client';
import { GatewayError, type Gateway } from './gateway.ts';
import { inputOf, type Line } from './lines.ts';

/** The outcome of a line of the list. */
export type Outcome =
  /** The payout was created, by this run or an earlier one. It may still be declined. */
  | { kind: 'created'; payout: PayoutFieldsFragment; replayed: boolean }
  /** Nothing was created, and nothing will be until a person has changed something. */
  | { kind: 'refused'; reason: string }
  /** The payout may or may not have been created. Run the same list again to find out. */
  | { kind: 'unknown'; reason: string };

/** A response after which the call has to be repeated, and the delay if the response has one. */
interface RetryNeeded {
  kind: 'not yet';
  reason: string;
  retryAfterMs: number | null;
}

export interface PayOutOptions {
  gateway: Gateway;
  channel: string;
  /** Time limit in ms for the retries of a line. */
  patienceMs: number;
  /** Called before a line is retried. */
  onRetry(line: Line, reason: string): void;
}

/** Pays out one line. Errors of the gateway become outcomes; only other errors are thrown. */
export async function payOut(line: Line, options: PayOutOptions): Promise<Outcome> {
  const giveUpAt = Date.now() + options.patienceMs;
  for (let attempt = 0; ; attempt += 1) {
    const outcome = await tryOnce(line, options);
    if (outcome.kind !== 'not yet') return outcome;
    const waitMs = outcome.retryAfterMs ?? backoffMs(attempt);
    if (Date.now() + waitMs > giveUpAt) return { kind: 'unknown', reason: outcome.reason };
    options.onRetry(line, outcome.reason);
    await sleep(waitMs);
  }
}

/** Returns the wait before a retry: doubles from 0.5 to 30 s, with jitter. */
const backoffMs = (attempt: number): number =>
  Math.min(30_000, 500 * 2 ** attempt) * (0.75 + Math.random() / 4);

async function tryOnce(line: Line, { gateway, channel }: PayOutOptions): Promise<Outcome | RetryNeeded> {
  try {
    const { createPayout } = await gateway.execute(CreatePayoutDocument, { input: inputOf(line, channel) });
    return outcomeOf(createPayout);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { code, retryable, retryAfterMs, message } = error;
    if (retryable) return { kind: 'not yet', reason: code, retryAfterMs };
    // BAD_USER_INPUT: the line is invalid for the schema and was not sent. After any other error it may have been.
    return { kind: code === 'BAD_USER_INPUT' ? 'refused' : 'unknown', reason: `${code}: ${message}` };
  }
}

function outcomeOf(result: CreatePayoutMutation['createPayout']): Outcome | RetryNeeded {
  switch (result.__typename) {
    case 'PayoutSuccess':
      return { kind: 'created', payout: result.payout, replayed: result.replayed };
    case 'InvalidInputError': {
      const inputErrors = result.fields.map(({ path, message }) => `${path.join('.')}: ${message}`);
      return { kind: 'refused', reason: inputErrors.join('; ') };
    }
    case 'RejectedByServiceError':
      return { kind: 'refused', reason: `the service refused it (${result.httpStatus}): ${result.message}` };
    case 'IdempotencyConflictError':
      return {
        kind: 'refused',
        reason: 'it was sent before with other details: check what was paid before you change the reference',
      };
    case 'RequestInProgressError':
      return { kind: 'not yet', reason: result.code, retryAfterMs: result.retryAfterMs };
    case 'OutcomeUnknownError':
      return { kind: 'not yet', reason: result.code, retryAfterMs: null };
    default:
      return result satisfies never;
  }
}
