import {
  createInProgress,
  createUnknown,
  idempotencyConflict,
  invalidInput,
  rejectedByService,
} from '../../schema/user-errors';
import type { AttemptKind } from '../../datasources/journal/journal';
import type { CreateResult } from './create-service';
import { fieldError } from '../validation/validate-input';

const TAKEN =
  'must not have been used before on this channel: there is, or may be, a payout under it. Query payout(externalId) and attempts(externalId) first; where they show nothing, ask the operator. Use another externalId only for a different payout.';

/** The GraphQL error type for a create that did not succeed. */
export function toUserError(
  result: Exclude<CreateResult<never>, { kind: 'success' }>,
  { idempotencyKey, kind }: { idempotencyKey: string; kind: AttemptKind },
) {
  switch (result.kind) {
    case 'refused':
      return rejectedByService(result.httpStatus, result.message);
    case 'external_id_taken':
      return invalidInput([fieldError(['externalId'], 'unused', TAKEN)]);
    case 'conflict':
      return idempotencyConflict(result.differing);
    case 'in_progress':
      return createInProgress();
    case 'unknown':
      return createUnknown({ idempotencyKey, externalId: result.externalId }, kind);
  }
}
