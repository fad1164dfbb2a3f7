import {
  idempotencyConflict,
  invalidInput,
  outcomeUnknown,
  rejectedByService,
  requestInProgress,
} from '../schema/user-errors';
import type { CreateEnd } from './creates';
import { fieldFault } from './input-faults';

const TAKEN =
  'must not have been used before on this channel: the service, or an earlier call, has a payout under it.';

/** What a caller is told of a create that did not succeed. */
export function createFailure(end: Exclude<CreateEnd<never>, { kind: 'success' }>, idempotencyKey: string) {
  switch (end.kind) {
    case 'refused':
      return rejectedByService(end.httpStatus, end.message);
    case 'external_id_taken':
      return invalidInput([fieldFault(['externalId'], 'unused', TAKEN)]);
    case 'conflict':
      return idempotencyConflict();
    case 'in_progress':
      return requestInProgress();
    case 'unknown':
      return outcomeUnknown({ idempotencyKey, externalId: end.externalId });
  }
}
