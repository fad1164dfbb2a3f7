import { authObligations } from './auth';
import { forcedConfirmObligations, confirmObligations } from './confirm';
import { limitObligations } from './limits';
import { lookupObligations } from './lookups';
import { outcomeObligations } from './outcomes';
import { paymentCreateObligations } from './payment-create';
import { paymentDirectObligations } from './payment-direct';
import { paymentRedirectObligations } from './payment-redirect';
import { payoutObligations } from './payout';
import type { Obligations } from './service';
import { signedBytesObligations } from './signed-bytes';

/** Requirements that can be tested on every service. */
const EVERYWHERE: readonly Obligations[] = [
  authObligations,
  signedBytesObligations,
  paymentCreateObligations,
  paymentRedirectObligations,
  paymentDirectObligations,
  confirmObligations,
  payoutObligations,
  lookupObligations,
  limitObligations,
];

/** Requirements that need a service where the cents of an amount force its outcome. */
const WITH_FORCED_OUTCOMES: readonly Obligations[] = [forcedConfirmObligations, outcomeObligations];

const listed = (groups: readonly Obligations[], needsForcedOutcomes: boolean) =>
  groups.flatMap((group) => Object.entries(group).map(([id, run]) => ({ id, run, needsForcedOutcomes })));

/** Everything that the specification requires and a client can observe. */
export const obligations = [...listed(EVERYWHERE, false), ...listed(WITH_FORCED_OUTCOMES, true)];
