import { Arg, Ctx, ID, Query, Resolver } from 'type-graphql';
import { requireAnyScope } from '../auth/caller';
import { Node, decodeNodeId } from '../schema/node';
import { badArgumentError } from './bad-request';
import type { OperationContext } from './context';
import { RequiresScope } from './root-fields';

/** All scopes for reading. A resolver that accepts any of them must itself check the scope for payments or payouts. */
export const ALL_READ_SCOPES = [
  'payments:read',
  'payments:read:own',
  'payouts:read',
  'payouts:read:own',
] as const;

/**
 * Looks up the payment or payout with a global id; null if it is not found. Throws BAD_USER_INPUT if the id is invalid,
 * and an AccessError if the caller may not read this kind of transaction or use the channel.
 * @param idPath the path of the id in the arguments, for the error
 */
export function lookUpNode(
  nodeId: string,
  context: OperationContext,
  idPath: readonly string[] = ['id'],
): Promise<Node | null> {
  const ref = decodeNodeId(nodeId);
  if (!ref) throw badArgumentError(idPath, 'nodeId', 'id was not issued by this gateway.');
  const { kind, ...key } = ref;
  requireAnyScope(context.caller, `${kind}s:read`, `${kind}s:read:own`);
  return context.visibleTransactions(kind).load(key);
}

@Resolver()
export class NodeResolver {
  @RequiresScope(...ALL_READ_SCOPES)
  @Query(() => Node, {
    nullable: true,
    description:
      'The object with a global id (Relay global object identification). Null if the service finds none; BAD_USER_INPUT for an id that this gateway did not issue.',
  })
  node(
    @Ctx() context: OperationContext,
    @Arg('id', () => ID, { description: 'An id from this gateway.' }) id: string,
  ): Promise<Node | null> {
    return lookUpNode(id, context);
  }
}
