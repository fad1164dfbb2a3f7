import { AccessError } from '../auth/caller';
import type { AuditEntry } from '../observability/audit/audit-log';
import { ServiceError } from '../datasources/payment-service/service-error';

/** What the inputs of the calls that move money have in common, as far as the audit log is concerned. */
export interface MoneyInput {
  channel: string;
  idempotencyKey?: string;
  transactionId?: string;
  amount?: { currency: string; value: string };
  method?: Record<string, unknown>;
  confirmation?: Record<string, unknown>;
}

export type AuditedMutation = AuditEntry['operation'];

/** Carries a call out that moves money, and puts on record who made it and how it ended, also where it was refused. */
export type AuditedCall = (
  operation: AuditedMutation,
  input: MoneyInput,
  work: () => Promise<unknown>,
) => Promise<unknown>;

type Ending = Pick<AuditEntry, 'outcome' | 'transactionId'> & Partial<Pick<AuditEntry, 'replayed'>>;

/** The arm that was chosen, and the word where the arm is only a word. */
function methodOf({ method, confirmation }: MoneyInput): string {
  const [arm = '', given] = Object.entries(method ?? confirmation ?? {}).find(([, value]) => value) ?? [];
  return typeof given === 'string' ? `${arm}:${given}` : arm;
}

interface Result {
  replayed?: boolean;
  payment?: { transactionId: string };
  payout?: { transactionId: string };
  transactionId?: string | null;
}

/** How a call ended. The transaction of a confirm is the one that its input names, whatever its result is. */
function resultSummary(result: object, input: MoneyInput): Ending {
  const { replayed, payment, payout, transactionId } = result as Result;
  return {
    outcome: result.constructor.name,
    ...(replayed !== undefined && { replayed }),
    transactionId: (payment ?? payout)?.transactionId ?? transactionId ?? input.transactionId ?? null,
  };
}

/** A fault by its kind, for want of a result; the code that callers see is decided in the room http. */
const faultName = (error: unknown): string => {
  if (error instanceof AccessError) return 'FORBIDDEN';
  if (error instanceof ServiceError) return error.kind;
  return error instanceof Error ? error.name : 'Error';
};

/** Makes calls be recorded. */
export function withAudit(
  record: (entry: AuditEntry) => void,
  caller: Pick<AuditEntry, 'who' | 'requestId' | 'ip'>,
): AuditedCall {
  return async (operation, input, work) => {
    const about = {
      ...caller,
      operation,
      key: input.idempotencyKey ?? null,
      channel: input.channel,
      method: methodOf(input),
      amount: input.amount ? { currency: input.amount.currency, value: input.amount.value } : null,
    };
    try {
      const result = await work();
      record({
        ...about,
        ...(isKeyRefused(result as object) && { key: null }),
        ...resultSummary(result as object, input),
      });
      return result;
    } catch (error) {
      record({ ...about, outcome: faultName(error), transactionId: input.transactionId ?? null });
      throw error;
    }
  };
}

/** A key that was refused may hold anything, a secret too: it is put on record nowhere. */
const isKeyRefused = (result: { fields?: { path: string[] }[] }): boolean =>
  result.fields?.some(({ path }) => path[0] === 'idempotencyKey') ?? false;
