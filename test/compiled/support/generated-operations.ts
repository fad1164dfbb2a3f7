import fc, { type GeneratorValue } from 'fast-check';
import {
  doTypesOverlap,
  getNamedType,
  isCompositeType,
  isLeafType,
  isRequiredArgument,
  isUnionType,
  parse,
  validate,
  type GraphQLArgument,
  type GraphQLCompositeType,
  type GraphQLField,
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

/** Values of arguments by name. */
const VALUES: Record<string, readonly unknown[]> = {
  channel: [CHANNEL],
  idempotencyKey: ATTEMPT_KEYS,
  externalId: ['order-1', 'order-2'],
  first: [1, 2, 100, null],
  startedAfter: ['2020-01-01T00:00:00Z', null],
  startedBefore: ['2099-01-01T00:00:00Z', null],
};

/** Values of arguments with which a field fails. */
const INVALID: Record<string, readonly unknown[]> = {
  after: ['no-cursor'],
  first: [0],
  startedBefore: ['2019-01-01T00:00:00Z'],
};

/** Writes one random operation. */
class Writer {
  readonly #fragments: { name: string; on: GraphQLCompositeType; text: string }[] = [];
  readonly #variables: string[] = [];
  readonly #roots: { head: string; field: GraphQLField<unknown, unknown> }[] = [];
  readonly #values: Record<string, unknown> = {};

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly g: GeneratorValue,
    private readonly options: Options,
  ) {}

  write() {
    const set = this.#set(this.schema.getQueryType()!, 0);
    const head = this.#variables.length > 0 ? `(${this.#variables.join(' ')})` : '';
    const others = [
      ...this.#fragments.map(({ name, on, text }) => `fragment ${name} on ${on.name} ${text}`),
      ...(this.#isOneOf(4) ? ['query Other { other: __typename }'] : []),
    ];
    const own = `query Asked${head} ${set}`;
    const query = (this.#isOneOf(2) ? [own, ...others] : [...others, own]).join('\n');
    const isNameSent = query.includes('query Other') || this.#isOneOf(2);
    return { query, variables: this.#values, ...(isNameSent && { operationName: 'Asked' }) };
  }

  #pick<T>(items: readonly T[]): T {
    return items[this.g(fc.nat, { max: items.length - 1 })] as T;
  }

  #isOneOf(count: number): boolean {
    // Small numbers are drawn more often than others.
    return this.g(fc.nat, { max: count - 1 }) === Math.floor(count / 2);
  }

  #set(type: GraphQLCompositeType, depth: number): string {
    const count = this.g(fc.integer, { min: 1, max: depth === 0 ? 3 : 5 });
    return `{ ${Array.from({ length: count }, () => this.#selection(type, depth)).join(' ')} }`;
  }

  #selection(type: GraphQLCompositeType, depth: number): string {
    const kind = this.#pick(['field', 'field', 'field', 'fragment', 'fragment', '__typename']);
    if (kind === 'fragment' && depth < MAX_DEPTH) return this.#fragment(type, depth);
    if (kind === '__typename' || isUnionType(type)) return this.#named('__typename') + this.#directive();
    return this.#field(type, depth);
  }

  #field(type: Exclude<GraphQLCompositeType, { getTypes: unknown }>, depth: number): string {
    if (type === this.schema.getQueryType()) return this.#root(Object.values(type.getFields()), depth);
    const fields = Object.values(type.getFields()).filter(
      (field) => depth < MAX_DEPTH || isLeafType(getNamedType(field.type)),
    );
    if (fields.length === 0) return '__typename';
    const field = this.#pick(fields);
    return this.#named(field.name) + this.#directive() + this.#below(field, depth);
  }

  #below(field: GraphQLField<unknown, unknown>, depth: number): string {
    const type = getNamedType(field.type);
    return isCompositeType(type) ? ` ${this.#set(type, depth + 1)}` : '';
  }

  #named(name: string): string {
    // Always the same odd name for a field, because two fields under one alias are invalid.
    if (this.#isOneOf(20)) return `${ODD_NAMES[name.length % ODD_NAMES.length]}: ${name}`;
    return this.#isOneOf(5) ? `x_${name}: ${name}` : name;
  }

  #directive(): string {
    if (!this.options.directives || !this.#isOneOf(5)) return '';
    const condition = this.#pick(['true', 'false', 'variable']);
    const value = condition === 'variable' ? this.#variable('Boolean!', this.#isOneOf(2)) : condition;
    return ` @${this.#pick(['include', 'skip'])}(if: ${value})`;
  }

  /** Writes an inline fragment, or spreads an earlier or a new fragment. */
  #fragment(type: GraphQLCompositeType, depth: number): string {
    const conditions = Object.values(this.schema.getTypeMap())
      .filter(isCompositeType)
      .filter((other) => doTypesOverlap(this.schema, type, other));
    if (this.#isOneOf(2)) {
      const on = this.#pick([null, ...conditions]);
      return `...${on ? ` on ${on.name}` : ''}${this.#directive()} ${this.#set(on ?? type, depth + 1)}`;
    }
    const known = this.#fragments.filter(({ on }) => conditions.includes(on));
    if (known.length > 0 && this.#isOneOf(2)) return `...${this.#pick(known).name}${this.#directive()}`;
    const on = this.#pick(conditions);
    const text = this.#set(on, depth + 1);
    const name = `F${this.#fragments.length}`;
    this.#fragments.push({ name, on, text });
    return `...${name}${this.#directive()}`;
  }

  /** Writes a root field: a new one, or an earlier root field and its arguments with another selection. */
  #root(fields: readonly GraphQLField<unknown, unknown>[], depth: number): string {
    if (this.#roots.length === 0 || !this.#isOneOf(4)) {
      const field = this.#pick(fields);
      const alias = this.#isOneOf(4) ? (ODD_NAMES[this.#roots.length] ?? 'odd') : `r${this.#roots.length}`;
      this.#roots.push({ head: `${alias}: ${field.name}(${this.#argumentsOf(field)})`, field });
      return this.#roots.at(-1)!.head + this.#directive() + this.#below(field, depth);
    }
    const { head, field } = this.#pick(this.#roots);
    return head + this.#directive() + this.#below(field, depth);
  }

  #argumentsOf({ name, args }: GraphQLField<unknown, unknown>): string {
    const kind = name.startsWith('payment') ? 'payment' : 'payout';
    // A lookup has exactly one of both ids.
    const omitted = this.#pick(['externalId', 'externalId', 'transactionId']);
    const isLookup = name === kind;
    const given = args.filter(
      (arg) => isRequiredArgument(arg) || (isLookup ? arg.name !== omitted : this.#isOneOf(2)),
    );
    return given
      .map((arg) => {
        const value = this.#valueOf(arg, kind);
        const type = String(arg.type);
        return `${arg.name}: ${this.#isOneOf(2) ? JSON.stringify(value) : this.#variable(type, value)}`;
      })
      .join(', ');
  }

  #valueOf({ name }: GraphQLArgument, kind: Kind): unknown {
    const { fails } = this.options;
    if (name === 'transactionId') return this.#transactionId(kind);
    if (name === 'transactionIds')
      return Array.from({ length: this.g(fc.nat, { max: 4 }) }, () => this.#transactionId(kind));
    if (name === 'id') {
      if (fails && this.#isOneOf(6)) return 'no-node';
      const any = this.#pick(['payment', 'payout'] as const);
      return nodeId(any, this.#transactionId(any));
    }
    return this.#pick([...(VALUES[name] ?? [null]), ...(fails ? (INVALID[name] ?? []) : [])]);
  }

  #transactionId(kind: Kind): string {
    return this.#pick(this.#isOneOf(5) ? [MISSING, ...(this.options.fails ? FAILING : [])] : FOUND[kind]);
  }

  /** Declares a variable. `value` is its value, its default, or both. */
  #variable(type: string, value: unknown): string {
    const name = `v${this.#variables.length}`;
    const hasDefault = this.#isOneOf(3);
    this.#variables.push(
      `$${name}: ${type}${hasDefault && value !== null ? ` = ${JSON.stringify(value)}` : ''}`,
    );
    if (!hasDefault || this.#isOneOf(2)) this.#values[name] = value;
    return `$${name}`;
  }
}

/** Returns a random valid operation of the schema. Skips the run if the written document is invalid. */
export function operationOf(schema: GraphQLSchema, g: GeneratorValue, options: Options) {
  const operation = new Writer(schema, g, options).write();
  // A random document may select two fields under one name.
  fc.pre(validate(schema, parse(operation.query)).length === 0);
  return operation;
}
