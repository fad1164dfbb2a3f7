import { AccessError } from '../auth/caller';
import { ServiceError } from '../datasources/payment-service/service-error';
import type { AuditEntry } from '../observability/audit/audit-log';

/** The fields of a mutation's input that the audit log needs. */
export interface AuditedInput {
  channel: string;
  idempotencyKey?: string;
  transactionId?: string;
  amount?: { currency: string; value: string };
  method?: Record<string, unknown>;
  confirmation?: Record<string, unknown>;
}

/**
 * Returns the selected method or confirmation for the audit log, such as `bkash`. If an enum value selects the method,
 * appends the value, as in `redirect:QRIS`.
 */
function selectedMethodText({ method, confirmation }: AuditedInput): string {
  const [field = '', value] = Object.entries(method ?? confirmation ?? {}).find(([, each]) => each) ?? [];
  return typeof value === 'string' ? `${field}:${value}` : field;
}

interface AuditedResult {
  replayed?: boolean;
  payment?: { transactionId: string };
  payout?: { transactionId: string };
  transactionId?: string | null;
  fields?: { path: string[] }[];
}

function resultFields(result: AuditedResult, input: AuditedInput) {
  const { replayed, payment, payout, transactionId } = result;
  return {
    outcome: result.constructor.name,
    ...(replayed !== undefined && { replayed }),
    transactionId: (payment ?? payout)?.transactionId ?? transactionId ?? input.transactionId ?? null,
  };
}

/** Returns the outcome that the audit log records for an error. The caller can receive another error code. */
function outcomeOfError(error: unknown): string {
  if (error instanceof AccessError) return 'FORBIDDEN';
  if (error instanceof ServiceError) return error.kind;
  return error instanceof Error ? error.name : 'Error';
}

/** Whether the idempotency key was rejected. A rejected key is not recorded, because it may contain a secret. */
const isKeyRejected = ({ fields }: AuditedResult): boolean =>
  fields?.some(({ path }) => path[0] === 'idempotencyKey') ?? false;

/** Returns a function that runs a mutation and passes an audit entry to `recordEntry`, even if the mutation throws. */
export function createAuditedRunner(
  recordEntry: (entry: AuditEntry) => void,
  callerFields: Pick<AuditEntry, 'who' | 'requestId' | 'ip'>,
) {
  return async (
    operation: AuditEntry['operation'],
    input: AuditedInput,
    runMutation: () => Promise<unknown>,
  ): Promise<unknown> => {
    const common = {
      ...callerFields,
      operation,
      key: input.idempotencyKey ?? null,
      channel: input.channel,
      method: selectedMethodText(input),
      amount: input.amount ?? null,
    };
    try {
      const result = (await runMutation()) as AuditedResult;
      recordEntry({ ...common, ...(isKeyRejected(result) && { key: null }), ...resultFields(result, input) });
      return result;
    } catch (error) {
      // Do not record the key if access is denied, because the key has not been checked for secrets.
      if (error instanceof AccessError) common.key = null;
      recordEntry({ ...common, outcome: outcomeOfError(error), transactionId: input.transactionId ?? null });
      throw error;
    }
  };
}
