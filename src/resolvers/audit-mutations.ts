import { AccessError } from '../auth/caller';
import { ServiceError } from '../datasources/payment-service/service-error';
import type { AuditEntry } from '../observability/audit/audit-log';

/** The fields of mutation inputs that the audit log records. */
export interface MoneyInput {
  channel: string;
  idempotencyKey?: string;
  transactionId?: string;
  amount?: { currency: string; value: string };
  method?: Record<string, unknown>;
  confirmation?: Record<string, unknown>;
}

export type AuditedMutation = AuditEntry['operation'];

/** Runs a mutation and records the caller and the outcome, also of a rejected one. */
export type AuditedCall = (
  operation: AuditedMutation,
  input: MoneyInput,
  work: () => Promise<unknown>,
) => Promise<unknown>;

/** The selected field of the @oneOf input; with the enum value of `redirect` and `typeOnly`. */
function methodOf({ method, confirmation }: MoneyInput): string {
  const [field = '', value] = Object.entries(method ?? confirmation ?? {}).find(([, each]) => each) ?? [];
  return typeof value === 'string' ? `${field}:${value}` : field;
}

interface MutationResult {
  replayed?: boolean;
  payment?: { transactionId: string };
  payout?: { transactionId: string };
  transactionId?: string | null;
  fields?: { path: string[] }[];
}

function resultSummary(result: MutationResult, input: MoneyInput) {
  const { replayed, payment, payout, transactionId } = result;
  return {
    outcome: result.constructor.name,
    ...(replayed !== undefined && { replayed }),
    transactionId: (payment ?? payout)?.transactionId ?? transactionId ?? input.transactionId ?? null,
  };
}

/** The outcome of a mutation that throws. src/http maps errors to the codes that callers receive. */
function errorName(error: unknown): string {
  if (error instanceof AccessError) return 'FORBIDDEN';
  if (error instanceof ServiceError) return error.kind;
  return error instanceof Error ? error.name : 'Error';
}

/** A rejected key may contain a secret: it is not recorded. */
const isKeyRejected = ({ fields }: MutationResult): boolean =>
  fields?.some(({ path }) => path[0] === 'idempotencyKey') ?? false;

export function withAudit(
  record: (entry: AuditEntry) => void,
  caller: Pick<AuditEntry, 'who' | 'requestId' | 'ip'>,
): AuditedCall {
  return async (operation, input, work) => {
    const call = {
      ...caller,
      operation,
      key: input.idempotencyKey ?? null,
      channel: input.channel,
      method: methodOf(input),
      amount: input.amount ? { currency: input.amount.currency, value: input.amount.value } : null,
    };
    try {
      const result = (await work()) as MutationResult;
      record({ ...call, ...(isKeyRejected(result) && { key: null }), ...resultSummary(result, input) });
      return result;
    } catch (error) {
      record({ ...call, outcome: errorName(error), transactionId: input.transactionId ?? null });
      throw error;
    }
  };
}
