import { defaultFieldResolver, type GraphQLField, type GraphQLSchema } from 'graphql';
import { Extensions, type SubscribeResolverData } from 'type-graphql';
import { requireChannel, requireScope, type Scope } from '../auth/caller';
import type { AuditedMutation, MoneyInput } from './audit-mutations';
import type { OperationContext } from './context';

/** The parameter of `subscribe` of a subscription to one transaction. */
export type SubscriptionArgs = SubscribeResolverData<
  unknown,
  { channel: string; transactionId: string },
  OperationContext
>;

const SCOPES = 'scopes';

/** The scopes of a root field; a caller needs one of them. */
export const RequiresScope = (...anyOf: Scope[]): MethodDecorator & PropertyDecorator =>
  Extensions(requiresScope(...anyOf));

/** The extensions of a root field that is not declared by a decorator. */
export const requiresScope = (...anyOf: Scope[]): Record<string, Scope[]> => ({ [SCOPES]: anyOf });

const OWN = ' With a scope :own only, transactions of other callers do not exist.';

type RootField = GraphQLField<unknown, OperationContext>;

/** The channel in the arguments of a root field, if it has one. */
function channelOf(args: Record<string, unknown>): string | undefined {
  const channel = args['channel'] ?? (args['input'] as { channel?: unknown } | undefined)?.channel;
  return typeof channel === 'string' ? channel : undefined;
}

/** Throws an AccessError if the caller has no scope for the field or no access to its channel. */
function checkAccess(scopes: Scope[], args: Record<string, unknown>, { caller }: OperationContext): void {
  requireScope(caller, ...scopes);
  const channel = channelOf(args);
  if (channel !== undefined) requireChannel(caller, channel);
}

/** Adds the checks of scope and channel to every root field, and the audit log to every mutation. */
export function guardRootFields(schema: GraphQLSchema): GraphQLSchema {
  const fieldsOf = (root: ReturnType<GraphQLSchema['getQueryType']>): RootField[] =>
    Object.values(root?.getFields() ?? {}) as RootField[];
  [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]
    .flatMap(fieldsOf)
    .forEach(guardRootField);
  fieldsOf(schema.getMutationType()).forEach(auditMutation);
  return schema;
}

/** Adds the checks of scope and channel to a root field. Throws if the field declares no scope. */
export function guardRootField(field: RootField): void {
  const scopes = field.extensions[SCOPES] as Scope[] | undefined;
  if (!scopes?.length) throw new Error(`The root field ${field.name} declares no scope.`);
  const own = scopes.some((scope) => scope.endsWith(':own')) ? OWN : '';
  field.description = `${field.description ?? ''} Needs the scope ${scopes.join(' or ')}.${own}`;
  const { resolve = defaultFieldResolver, subscribe } = field;
  field.resolve = (source, args, context, info) => {
    checkAccess(scopes, args, context);
    return resolve(source, args, context, info) as unknown;
  };
  if (!subscribe) return;
  field.subscribe = (source, args, context, info) => {
    checkAccess(scopes, args, context);
    return subscribe(source, args, context, info) as unknown;
  };
}

/** Root value of an operation whose mutation has already been executed: its resolver returns this result. */
export class PrecomputedResult {
  constructor(readonly result: unknown) {}
}

/** The resolver is async, so it never throws synchronously: after it was called, the mutation was executed. */
function auditMutation(field: RootField): void {
  const { resolve = defaultFieldResolver } = field;
  field.resolve = async (source, args: { input: MoneyInput }, context, info) =>
    source instanceof PrecomputedResult
      ? source.result
      : context.audited(
          field.name as AuditedMutation,
          args.input,
          async () => resolve(source, args, context, info) as unknown,
        );
}
