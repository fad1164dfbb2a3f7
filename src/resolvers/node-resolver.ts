import { requireScope } from '../auth/caller';
import { Arg, Ctx, ID, Query, Resolver } from 'type-graphql';
import { Node, decodeNodeId } from '../schema/node';
import { badArgument } from './bad-request';
import type { OperationContext } from './context';
import { RequiresScope } from './root-fields';

/** Any of these lets a caller ask for objects by their global ids; which of them are shown depends on the kind. */
export const READ_SCOPES = [
  'payments:read',
  'payments:read:own',
  'payouts:read',
  'payouts:read:own',
] as const;

/**
 * The object of a global id; null when the service no longer has it. Throws where the id is none, or not for this caller.
 * @param path where the id stands in the arguments
 */
export function lookUpNode(
  id: string,
  context: OperationContext,
  path: readonly string[] = ['id'],
): Promise<Node | null> {
  const ref = decodeNodeId(id);
  if (!ref) throw badArgument(path, 'nodeId', 'id is not one that this gateway made.');
  const { kind, ...key } = ref;
  requireScope(context.caller, `${kind}s:read`, `${kind}s:read:own`);
  return kind === 'payment' ? context.visiblePayments.load(key) : context.visiblePayouts.load(key);
}

@Resolver()
export class NodeResolver {
  @RequiresScope(...READ_SCOPES)
  @Query(() => Node, {
    nullable: true,
    description:
      'The object of a global id (Relay global object identification). Null when the service no longer has it; BAD_USER_INPUT for an id that this gateway never made.',
  })
  node(
    @Ctx() context: OperationContext,
    @Arg('id', () => ID, { description: 'An id that this gateway answered.' }) id: string,
  ): Promise<Node | null> {
    return lookUpNode(id, context);
  }
}
