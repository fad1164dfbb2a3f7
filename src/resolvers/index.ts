import type { GraphQLSchema } from 'graphql';
import { buildSchema } from '../schema/build-schema';
import { AttemptResolver } from './attempt-resolver';
import { NodeResolver } from './node-resolver';
import { PaymentResolver } from './payment-resolver';
import { PayoutResolver } from './payout-resolver';
import { guardRootFields } from './root-fields';
import { asSubgraph } from './subgraph';

/** Builds the public schema with its access checks. */
export const gatewaySchema = (): GraphQLSchema =>
  guardRootFields(buildSchema([PaymentResolver, PayoutResolver, NodeResolver, AttemptResolver]));

/** Builds the public schema as a subgraph of Apollo Federation 2. */
export const subgraphSchema = (): GraphQLSchema => asSubgraph(gatewaySchema());
