import { isUuid } from '../../schema/scalars';
import { readStatus } from '../../redaction/text';

/** Settle request for one attempt. */
export type SettleRequest = {
  /** The attempt's id or its idempotency key. */
  attempt: string;
} & (
  | { outcome: 'not_sent'; transactionId: null; status: null }
  /** `transactionId`: what the service created; `status`: the service's word for its status. */
  | { outcome: 'succeeded'; transactionId: string; status: string }
);

interface GivenRequest {
  attempt: string;
  outcome: string;
  transactionId?: string | undefined;
  status: string;
}

/** The request of what was given, or in words what is wrong with it. */
export function readRequest(given: GivenRequest): SettleRequest | string {
  const { attempt, outcome, transactionId, status } = given;
  if (attempt === '') return 'Name an attempt, by its id or its idempotency key.';
  if (outcome === 'not_sent')
    return transactionId
      ? 'not_sent has no transaction id.'
      : { attempt, outcome, transactionId: null, status: null };
  if (outcome !== 'succeeded') return 'Settle as not_sent or as succeeded.';
  if (!transactionId) return 'succeeded needs a transaction id.';
  if (!isUuid(transactionId)) return 'Transaction id: expected a UUID.';
  if (status === '' || readStatus(status) !== status) return "Status: expected the service's word for it.";
  return { attempt, outcome, transactionId: transactionId.toLowerCase(), status };
}
