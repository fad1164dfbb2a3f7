import { AttemptResolver } from './attempt-resolver';
import { NodeResolver } from './node-resolver';
import { PaymentResolver } from './payment-resolver';
import { PayoutResolver } from './payout-resolver';

/** Every resolver of the schema. */
export const resolvers = [PaymentResolver, PayoutResolver, NodeResolver, AttemptResolver] as const;
