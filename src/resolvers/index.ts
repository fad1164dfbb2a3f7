import type { GraphQLSchema } from 'graphql';
import { buildSchema } from '../schema/build-schema';
import { Payment, Payout } from '../schema/methods/method-types';
import { AttemptResolver } from './attempt-resolver';
import { ChangeResolver } from './change-resolver';
import { MutationResolver } from './mutation-resolver';
import { NodeResolver } from './node-resolver';
import { guardRootFields } from './root-fields';
import { asSubgraph } from './subgraph';
import { createTransactionResolver } from './transaction-resolver';

const RESOLVERS = [
  createTransactionResolver({ kind: 'payment', getType: () => Payment, specSection: '4.3' }),
  createTransactionResolver({ kind: 'payout', getType: () => Payout, specSection: '4.1' }),
  MutationResolver,
  NodeResolver,
  AttemptResolver,
  ChangeResolver,
] as const;

/** Builds the public schema with its access checks. */
export const buildGatewaySchema = (): GraphQLSchema => guardRootFields(buildSchema(RESOLVERS));

/** Builds the public schema as a subgraph of Apollo Federation 2. */
export const buildSubgraphSchema = (): GraphQLSchema => asSubgraph(buildGatewaySchema());
