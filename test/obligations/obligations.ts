import { authObligations } from './auth';
import { confirmObligations } from './confirm';
import { confirmRefusalObligations } from './confirm-refusals';
import { declineObligations } from './declines';
import { externalIdObligations } from './external-ids';
import { limitObligations } from './limits';
import { lookupRefusalObligations } from './lookup-refusals';
import { lookupObligations } from './lookups';
import type { Obligation } from './obligation';
import { outcomeObligations } from './outcomes';
import { paymentCreateObligations } from './payment-create';
import { paymentDirectObligations } from './payment-direct';
import { paymentRedirectObligations } from './payment-redirect';
import { payoutObligations } from './payout';
import { signedBytesObligations } from './signed-bytes';

/** All that the service's specification requires and a client can observe. */
export const obligations: Obligation[] = [
  ...authObligations,
  ...signedBytesObligations,
  ...paymentCreateObligations,
  ...paymentRedirectObligations,
  ...paymentDirectObligations,
  ...confirmObligations,
  ...confirmRefusalObligations,
  ...payoutObligations,
  ...lookupObligations,
  ...externalIdObligations,
  ...lookupRefusalObligations,
  ...declineObligations,
  ...outcomeObligations,
  ...limitObligations,
];
