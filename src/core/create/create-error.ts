import {
  createAlreadyInProgress,
  createOutcomeUnknown,
  idempotencyConflict,
  invalidInput,
  rejectedByService,
} from '../../schema/user-errors';
import type { AttemptKind } from '../../datasources/journal/journal';
import type { CreateResult } from './create-plan';
import { fieldError } from '../validation/validate-input';

const EXTERNAL_ID_TAKEN_MESSAGE =
  'must not have been used before on this channel: there is, or may be, a payout with this external id. Query payout(externalId) and attempts(externalId) first; if they return nothing, ask the operator of the gateway. Use another externalId only for a different payout.';

/** Returns the GraphQL error for a create that did not succeed. */
export function toUserError(
  result: Exclude<CreateResult<never>, { kind: 'success' }>,
  { idempotencyKey, kind }: { idempotencyKey: string; kind: AttemptKind },
) {
  switch (result.kind) {
    case 'refused':
      return rejectedByService(result.httpStatus, result.message);
    case 'external_id_taken':
      return invalidInput([fieldError(['externalId'], 'unused', EXTERNAL_ID_TAKEN_MESSAGE)]);
    case 'conflict':
      return idempotencyConflict(result.differing);
    case 'in_progress':
      return createAlreadyInProgress();
    case 'unknown':
      return createOutcomeUnknown({ idempotencyKey, externalId: result.externalId }, kind);
  }
}
