import type { SubscribeResolverData } from 'type-graphql';
import type { OperationContext } from './context';

/** What begins a subscription. */
export type Watching = SubscribeResolverData<unknown, Record<string, unknown>, OperationContext>;

/** The channel and the transaction of a subscription; graphql-js has checked that they are there. */
export const asked = ({ channel, transactionId }: Record<string, unknown>): [string, string] => [
  String(channel),
  String(transactionId),
];
