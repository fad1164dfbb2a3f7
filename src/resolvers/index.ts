import type { GraphQLSchema } from 'graphql';
import { buildSchema } from '../schema/build-schema';
import { AttemptResolver } from './attempt-resolver';
import { NodeResolver } from './node-resolver';
import { PaymentResolver } from './payment-resolver';
import { PayoutResolver } from './payout-resolver';
import { guardRootFields } from './root-fields';
import { asSubgraph } from './subgraph';

const resolvers = [PaymentResolver, PayoutResolver, NodeResolver, AttemptResolver] as const;

/** The public schema: what can be asked, and who may ask it. */
export const gatewaySchema = (): GraphQLSchema => guardRootFields(buildSchema([...resolvers]));

/** The same as a subgraph of Apollo Federation 2. */
export const subgraphSchema = (): GraphQLSchema => asSubgraph(gatewaySchema());
