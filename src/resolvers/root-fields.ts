import {
  defaultFieldResolver,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLSchema,
} from 'graphql';
import { Extensions, type SubscribeResolverData } from 'type-graphql';
import { requireChannel, requireAnyScope, type Scope } from '../auth/caller';
import type { AuditEntry } from '../observability/audit/audit-log';
import { rootTypesOf } from '../schema/build-schema';
import type { AuditedInput } from './audit-mutations';
import type { OperationContext } from './context';

/** The parameter of the `subscribe` function of a subscription with the arguments `Args`. */
export type SubscribeParams<Args> = SubscribeResolverData<unknown, Args, OperationContext>;

/** Declares the scopes of a root field. A caller needs at least one of them. guardRootField() adds the check. */
export const RequiresScope = (...scopes: Scope[]): MethodDecorator => Extensions({ scopes });

const OWN_SCOPE_NOTE =
  ' For a caller that has only the :own scope, transactions of other callers are not found.';

type RootField = GraphQLField<unknown, OperationContext>;
type FieldResolver = GraphQLFieldResolver<unknown, OperationContext>;

function channelOf(args: Record<string, unknown>): string | undefined {
  const channel = args['channel'] ?? (args['input'] as { channel?: unknown } | undefined)?.channel;
  return typeof channel === 'string' ? channel : undefined;
}

/** Throws an AccessError if the caller has none of the scopes, or may not use the channel in the arguments. */
function checkAccess(scopes: Scope[], args: Record<string, unknown>, { caller }: OperationContext): void {
  requireAnyScope(caller, ...scopes);
  const channel = channelOf(args);
  if (channel !== undefined) requireChannel(caller, channel);
}

/** Adds checks of scope and channel to every root field, and the audit log to every mutation. */
export function guardRootFields(schema: GraphQLSchema): GraphQLSchema {
  for (const rootType of rootTypesOf(schema)) Object.values(rootType.getFields()).forEach(guardRootField);
  Object.values(schema.getMutationType()?.getFields() ?? {}).forEach(addAuditLog);
  return schema;
}

/** Adds scope and channel checks to a root field, and its scopes to the description. Throws if it declares no scope. */
export function guardRootField(field: RootField): void {
  const scopes = field.extensions['scopes'] as Scope[] | undefined;
  if (!scopes?.length) throw new Error(`Bug in the gateway: the root field ${field.name} declares no scope.`);
  const ownScopeNote = scopes.some((scope) => scope.endsWith(':own')) ? OWN_SCOPE_NOTE : '';
  field.description = `${field.description ?? ''} Needs the scope ${scopes.join(' or ')}.${ownScopeNote}`;
  const { resolve = defaultFieldResolver, subscribe } = field;
  const withAccessCheck =
    (resolver: FieldResolver): FieldResolver =>
    (source, args, context, info) => {
      checkAccess(scopes, args, context);
      return resolver(source, args, context, info);
    };
  field.resolve = withAccessCheck(resolve);
  if (subscribe) field.subscribe = withAccessCheck(subscribe);
}

/**
 * Root value of a mutation that src/http/compiled has already executed: the field returns `result` and does not execute
 * the mutation again.
 */
export class PrecomputedResult {
  constructor(readonly result: unknown) {}
}

/**
 * Adds the audit log to a mutation. The new resolver must be async, because PreparedOperation (src/http/compiled) would
 * execute the mutation again after a synchronous error.
 */
function addAuditLog(field: RootField): void {
  const { resolve = defaultFieldResolver } = field;
  field.resolve = async (source, args: { input: AuditedInput }, context, info) =>
    source instanceof PrecomputedResult
      ? source.result
      : context.runAudited(
          field.name as AuditEntry['operation'],
          args.input,
          async () => resolve(source, args, context, info) as unknown,
        );
}
