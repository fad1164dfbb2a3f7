import { setTimeout as sleep } from 'node:timers/promises';
import { CreatePayoutDocument, type CreatePayoutMutation, type PayoutFieldsFragment } from '@paygraph/client';
import { GatewayError, type Gateway } from './gateway.ts';
import { inputOf, type Line } from './lines.ts';

/** The outcome of a line. */
export type Outcome =
  /** The service has it; by now or by an earlier run. It may still be declined. */
  | { kind: 'created'; payout: PayoutFieldsFragment; replayed: boolean }
  /** Nothing was created, and nothing will be until a person has changed something. */
  | { kind: 'refused'; why: string }
  /** It may or may not have been created. Only another run of the same list may ask again. */
  | { kind: 'unknown'; why: string };

/** A response after which the call has to be repeated, and the delay if it has one. */
interface NotYet {
  kind: 'not yet';
  why: string;
  retryAfterMs: number | null;
}

export interface PayOutOptions {
  gateway: Gateway;
  channel: string;
  /** How long a line is tried for, in milliseconds. */
  patienceMs: number;
  /** Called before a line is retried. */
  onRetry(line: Line, why: string): void;
}

/** Pays one line out. It never throws: whatever happens is an outcome. */
export async function payOut(line: Line, options: PayOutOptions): Promise<Outcome> {
  const giveUpAt = Date.now() + options.patienceMs;
  for (let attempt = 0; ; attempt += 1) {
    const outcome = await tryOnce(line, options);
    if (outcome.kind !== 'not yet') return outcome;
    const waitMs = outcome.retryAfterMs ?? backoffMs(attempt);
    if (Date.now() + waitMs > giveUpAt) return { kind: 'unknown', why: outcome.why };
    options.onRetry(line, outcome.why);
    await sleep(waitMs);
  }
}

/** Half a second at first, half a minute at last, and not for all lines at the same moment. */
const backoffMs = (attempt: number): number =>
  Math.min(30_000, 500 * 2 ** attempt) * (0.75 + Math.random() / 4);

async function tryOnce(line: Line, { gateway, channel }: PayOutOptions): Promise<Outcome | NotYet> {
  try {
    const { createPayout } = await gateway.ask(CreatePayoutDocument, { input: inputOf(line, channel) });
    return outcomeOf(createPayout);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { code, retryable, retryAfterMs, message } = error;
    if (retryable) return { kind: 'not yet', why: code, retryAfterMs };
    // The line is invalid for the schema, so it was not sent. After any other error it may have been.
    return { kind: code === 'BAD_USER_INPUT' ? 'refused' : 'unknown', why: `${code}: ${message}` };
  }
}

function outcomeOf(result: CreatePayoutMutation['createPayout']): Outcome | NotYet {
  switch (result.__typename) {
    case 'PayoutSuccess':
      return { kind: 'created', payout: result.payout, replayed: result.replayed };
    case 'InvalidInputError': {
      const faults = result.fields.map(({ path, message }) => `${path.join('.')}: ${message}`);
      return { kind: 'refused', why: faults.join('; ') };
    }
    case 'RejectedByServiceError':
      return { kind: 'refused', why: `the service refused it (${result.httpStatus}): ${result.message}` };
    case 'IdempotencyConflictError':
      return {
        kind: 'refused',
        why: 'it was sent before with other details: look at what was paid before you change the reference',
      };
    case 'RequestInProgressError':
      return { kind: 'not yet', why: result.code, retryAfterMs: result.retryAfterMs };
    case 'OutcomeUnknownError':
      return { kind: 'not yet', why: result.code, retryAfterMs: null };
    default:
      return result satisfies never;
  }
}
