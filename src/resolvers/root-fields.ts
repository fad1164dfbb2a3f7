import { defaultFieldResolver, type GraphQLField, type GraphQLSchema } from 'graphql';
import { Extensions } from 'type-graphql';
import { requireChannel, requireScope, type Scope } from '../auth/caller';
import type { OperationContext } from './context';
import type { AuditedMutation, MoneyInput } from './audit-mutations';

const SCOPES = 'scopes';

/** Says which scope a root field needs; any of them, where there are several. */
export const RequiresScope = (...anyOf: Scope[]): MethodDecorator & PropertyDecorator =>
  Extensions(requiresScope(...anyOf));

/** The same for a field that is no method: its extensions. */
export const requiresScope = (...anyOf: Scope[]): Record<string, Scope[]> => ({ [SCOPES]: anyOf });

const OWN = ' For a caller that has a scope with :own alone, what it did not create itself does not exist.';

type RootField = GraphQLField<unknown, OperationContext>;

/** The channel that the arguments of a root field name, where they name one. */
function channelOf(args: Record<string, unknown>): string | undefined {
  const channel = args['channel'] ?? (args['input'] as { channel?: unknown } | undefined)?.channel;
  return typeof channel === 'string' ? channel : undefined;
}

function scopesOf({ name, extensions }: RootField): Scope[] {
  const scopes = extensions[SCOPES] as Scope[] | undefined;
  if (!scopes?.length) throw new Error(`The root field ${name} names no scope.`);
  return scopes;
}

/** Throws an AccessError unless the caller may ask this. */
function checkAccess(scopes: Scope[], args: Record<string, unknown>, { caller }: OperationContext): void {
  requireScope(caller, ...scopes);
  const channel = channelOf(args);
  if (channel !== undefined) requireChannel(caller, channel);
}

/**
 * Makes every root field ask for its scope and its channel before anything else, and puts every call that moves money
 * on record, refused ones too. Throws for a field that names no scope.
 */
export function guardRootFields(schema: GraphQLSchema): GraphQLSchema {
  const fieldsOf = (root: ReturnType<GraphQLSchema['getQueryType']>): RootField[] =>
    Object.values(root?.getFields() ?? {}) as RootField[];
  [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()]
    .flatMap(fieldsOf)
    .forEach(guardRootField);
  fieldsOf(schema.getMutationType()).forEach(record);
  return schema;
}

/** Makes a root field ask for its scope and its channel before anything else. Throws where it names no scope. */
export function guardRootField(field: RootField): void {
  const scopes = scopesOf(field);
  const limit = scopes.some((scope) => scope.endsWith(':own')) ? OWN : '';
  field.description = `${field.description ?? ''} Needs the scope ${scopes.join(' or ')}.${limit}`;
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

/** As the root value of an operation: what its mutation came to, so that it is not carried out a second time. */
export class PrecomputedResult {
  /** @param result what the resolver of its root field returned */
  constructor(readonly result: unknown) {}
}

/** Its resolver throws nothing before it promises its result: whoever has called it once can tell. */
function record(field: RootField): void {
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
