import fc, { type GeneratorValue } from 'fast-check';
import {
  doTypesOverlap,
  getNamedType,
  isCompositeType,
  isUnionType,
  parse,
  validate,
  type GraphQLCompositeType,
  type GraphQLSchema,
} from 'graphql';
import { CHANNEL, type Kind } from '../../support/caller';
import { FAILING, FOUND, MISSING, nodeId } from './transactions';

interface Options {
  /** Whether some lookups fail or have invalid arguments. */
  fails: boolean;
  /** Whether some selections have @skip or @include. */
  directives: boolean;
}

/** Names with a special meaning in JavaScript, but not in GraphQL. */
const ODD_NAMES = ['__proto__', 'constructor', 'then', 'toJSON', 'hasOwnProperty', 'prototype', 'valueOf'];

const MAX_DEPTH = 6;

/** Idempotency keys. No attempt has the last key. */
export const ATTEMPT_KEYS = ['key-1', 'key-2', 'key-3'];

const BY_ID = ['$c: UUID!, $id: UUID', 'channel: $c, transactionId: $id'] as const;
const BY_IDS = ['$c: UUID!, $ids: [UUID!]!', 'channel: $c, transactionIds: $ids'] as const;
const PAGE = ['$c: UUID!, $first: Int = 2', 'channel: $c, first: $first'] as const;

/** The variables and arguments of each root field. */
const ROOTS: Record<string, readonly [variables: string, given: string]> = {
  ...{ payment: BY_ID, payout: BY_ID, payments: BY_IDS, payouts: BY_IDS, attempts: PAGE, changes: PAGE },
  ...{ node: ['$node: ID!', 'id: $node'], attempt: ['$key: ID!', 'idempotencyKey: $key'] },
};

/** Returns a random valid operation of the schema. Skips the run if the written document is invalid. */
export function operationOf(schema: GraphQLSchema, g: GeneratorValue, { fails, directives }: Options) {
  const pick = <T>(items: readonly T[]): T => items[g(fc.nat, { max: items.length - 1 })] as T;
  // Small numbers are drawn more often than others.
  const isOneOf = (count: number): boolean => g(fc.nat, { max: count - 1 }) === Math.floor(count / 2);
  const fragments: { name: string; on: GraphQLCompositeType; text: string }[] = [];

  const directive = (): string =>
    directives && isOneOf(5) ? ` @${pick(['include', 'skip'])}(if: ${pick(['true', 'false'])})` : '';

  const set = (type: GraphQLCompositeType, depth: number): string => {
    const count = g(fc.integer, { min: 1, max: 5 });
    return `{ ${Array.from({ length: count }, () => selection(type, depth)).join(' ')} }`;
  };

  const selection = (type: GraphQLCompositeType, depth: number): string => {
    if (depth < MAX_DEPTH && isOneOf(3)) return fragment(type, depth);
    const fields = isUnionType(type) ? [] : Object.values(type.getFields());
    const possible = fields.filter(
      (field) => depth < MAX_DEPTH || !isCompositeType(getNamedType(field.type)),
    );
    const field = pick([undefined, ...possible]);
    const name = field?.name ?? '__typename';
    // Always the same odd name for a field, because two fields under one alias are invalid.
    const alias = isOneOf(20)
      ? `${ODD_NAMES[name.length % ODD_NAMES.length]}: `
      : isOneOf(5)
        ? `x_${name}: `
        : '';
    const below = field && getNamedType(field.type);
    return alias + name + directive() + (isCompositeType(below) ? ` ${set(below, depth + 1)}` : '');
  };

  /** Writes an inline fragment, or spreads an earlier or a new fragment. */
  const fragment = (type: GraphQLCompositeType, depth: number): string => {
    const conditions = Object.values(schema.getTypeMap())
      .filter(isCompositeType)
      .filter((other) => doTypesOverlap(schema, type, other));
    const known = fragments.filter(({ on }) => conditions.includes(on));
    if (known.length > 0 && isOneOf(3)) return `...${pick(known).name}${directive()}`;
    const on = pick(conditions);
    const text = set(on, depth + 1);
    if (isOneOf(2)) return `... on ${on.name}${directive()} ${text}`;
    const name = `F${fragments.length}`;
    fragments.push({ name, on, text: `fragment ${name} on ${on.name} ${text}` });
    return `...${name}${directive()}`;
  };

  const name = pick(Object.keys(ROOTS));
  const [variables, given] = ROOTS[name]!;
  const type = getNamedType(schema.getQueryType()!.getFields()[name]!.type) as GraphQLCompositeType;
  const alias = isOneOf(4) ? `${pick(ODD_NAMES)}: ` : '';
  // Two root fields under one name are merged. An operation with another root field is not compiled.
  const roots = [
    ...Array.from({ length: isOneOf(4) ? 2 : 1 }, () => `${alias}${name}(${given}) ${set(type, 1)}`),
    ...(isOneOf(4) ? ['__typename'] : []),
    ...(isOneOf(6) ? [`other: ${name}(${given}) ${set(type, 1)}`] : []),
  ];
  const own = `query Asked(${variables}) { ${roots.join(' ')} }`;
  const other = isOneOf(4) ? ['query Other { __typename }'] : [];
  const query = [own, ...fragments.map(({ text }) => text), ...other];
  fc.pre(validate(schema, parse(query.join('\n'))).length === 0);

  const kind = /^(payment|payout)/.exec(name)?.[1] ?? pick(['payment', 'payout']);
  const id = (): string =>
    isOneOf(5) ? pick([MISSING, ...(fails ? FAILING : [])]) : pick(FOUND[kind as Kind]);
  return {
    query: query.join('\n'),
    operationName: 'Asked',
    variables: {
      c: CHANNEL,
      id: id(),
      ids: Array.from({ length: g(fc.nat, { max: 4 }) }, id),
      node: fails && isOneOf(6) ? 'no-node' : nodeId(kind as Kind, id()),
      key: pick(ATTEMPT_KEYS),
      first: pick([undefined, null, 1, 2, 100, ...(fails ? [0] : [])]),
    },
  };
}
