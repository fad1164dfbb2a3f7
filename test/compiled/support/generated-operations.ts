import fc, { type GeneratorValue } from 'fast-check';
import {
  getNamedType,
  isAbstractType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  isUnionType,
  parse,
  validate,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLSchema,
} from 'graphql';
import { CHANNEL } from '../../support/gateway';
import { FAILING, FOUND, MISSING, nodeId } from './transactions';

/** An operation as a caller sends it. */
export interface Operation {
  query: string;
  variables: Record<string, unknown>;
  operationName?: string;
}

interface Options {
  /** Whether some lookups fail or have invalid arguments. */
  fails: boolean;
  /** Whether some selections have @skip or @include. */
  directives: boolean;
}

/** Names with a special meaning in JavaScript, but not in GraphQL. */
const ODD_NAMES = ['__proto__', 'constructor', 'then', 'toJSON', 'hasOwnProperty', 'prototype', 'valueOf'];

/** Returns an odd name, always the same for a field, because two fields under one alias are invalid. */
const oddNameOf = (name: string): string => ODD_NAMES[name.length % ODD_NAMES.length] ?? '';

const MAX_DEPTH = 6;

/** Idempotency keys. No attempt has the last key. */
export const ATTEMPT_KEYS = ['key-1', 'key-2', 'key-3'];

/** Optional arguments: name, type, values, and values with which the field fails. */
const OPTIONAL: Record<string, [name: string, type: string, values: unknown[], invalid?: unknown[]][]> = {
  changes: [
    ['first', 'Int', [1, 2, 500, null], [0]],
    ['after', 'String', [null], ['no-cursor']],
  ],
  attempts: [
    ['first', 'Int', [1, 2, 100, null], [0]],
    ['operation', 'AttemptOperation', [null]],
    ['externalId', 'String', ['order-1', null]],
    ['startedAfter', 'Timestamp', ['2020-01-01T00:00:00Z', null]],
    ['startedBefore', 'Timestamp', ['2099-01-01T00:00:00Z', null], ['2019-01-01T00:00:00Z']],
    ['after', 'String', [null, Buffer.from('attempt:999999999999999:2').toString('base64url')]],
  ],
};

/** Writes one random operation. */
class Writer {
  readonly #fragments: { name: string; on: GraphQLCompositeType; text: string }[] = [];
  readonly #variables: string[] = [];
  readonly #roots: string[] = [];
  readonly values: Record<string, unknown> = {};

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly g: GeneratorValue,
    private readonly options: Options,
  ) {}

  write(): Operation {
    const query = this.schema.getQueryType();
    if (!query) throw new Error('The schema has no queries.');
    const set = this.#set(query, 0);
    const head = this.#variables.length > 0 ? `(${this.#variables.join(' ')})` : '';
    const fragments = this.#fragments.map(({ name, on, text }) => `fragment ${name} on ${on.name} ${text}`);
    const others = this.#isOneOf(4) ? ['query Other { other: __typename }'] : [];
    const isNamed = others.length > 0 || this.#isOneOf(2);
    const own = `query${isNamed ? ' Asked' : ''}${head} ${set}`;
    const text = this.#isOneOf(2) ? [...others, own, ...fragments] : [...fragments, own, ...others];
    const isNameSent = others.length > 0 || (isNamed && this.#isOneOf(2));
    return { query: text.join('\n'), variables: this.values, ...(isNameSent && { operationName: 'Asked' }) };
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
    const isDeep = depth >= MAX_DEPTH;
    if (isDeep && isUnionType(type)) return '__typename';
    const kind = this.#pick(['field', 'field', 'field', 'inline', 'named', '__typename']);
    if (kind === '__typename') return this.#named('__typename') + this.#directive();
    if (isDeep || (kind === 'field' && !isUnionType(type))) return this.#field(type, depth);
    return kind === 'named' ? this.#spread(type, depth) : this.#inline(type, depth);
  }

  #field(type: GraphQLCompositeType, depth: number): string {
    if (isUnionType(type)) return '__typename';
    if (type === this.schema.getQueryType()) return this.#root(depth);
    const fields = Object.values(type.getFields());
    const possible =
      depth < MAX_DEPTH ? fields : fields.filter((field) => isLeafType(getNamedType(field.type)));
    if (possible.length === 0) return '__typename';
    const field = this.#pick(possible);
    return this.#named(field.name) + this.#directive() + this.#below(field, depth);
  }

  #below(field: GraphQLField<unknown, unknown>, depth: number): string {
    const type = getNamedType(field.type);
    return isLeafType(type) ? '' : ` ${this.#set(type as GraphQLCompositeType, depth + 1)}`;
  }

  #named(name: string): string {
    if (this.#isOneOf(20)) return `${oddNameOf(name)}: ${name}`;
    return this.#isOneOf(5) ? `x_${name}: ${name}` : name;
  }

  #directive(): string {
    if (!this.options.directives || !this.#isOneOf(5)) return '';
    const condition = this.#pick(['true', 'false', 'variable']);
    const value = condition === 'variable' ? this.#variable('Boolean!', this.#isOneOf(2)) : condition;
    return ` @${this.#pick(['include', 'skip'])}(if: ${value})`;
  }

  #inline(type: GraphQLCompositeType, depth: number): string {
    const on = this.#pick([null, ...this.#conditionsOf(type)]);
    const head = on ? `... on ${on.name}` : '...';
    return head + this.#directive() + ` ${this.#set(on ?? type, depth + 1)}`;
  }

  #spread(type: GraphQLCompositeType, depth: number): string {
    const conditions = this.#conditionsOf(type);
    const known = this.#fragments.filter(({ on }) => conditions.includes(on));
    if (known.length > 0 && this.#isOneOf(2)) return `...${this.#pick(known).name}${this.#directive()}`;
    const on = this.#pick(conditions);
    const text = this.#set(on, depth + 1);
    const name = `F${this.#fragments.length}`;
    this.#fragments.push({ name, on, text });
    return `...${name}${this.#directive()}`;
  }

  /** Returns the type conditions that a fragment within `type` may have. */
  #conditionsOf(type: GraphQLCompositeType): GraphQLCompositeType[] {
    const possible = isAbstractType(type) ? this.schema.getPossibleTypes(type) : [type];
    return Object.values(this.schema.getTypeMap()).filter((other): other is GraphQLCompositeType => {
      if (isObjectType(other)) return possible.includes(other);
      if (!isInterfaceType(other) && !isUnionType(other)) return false;
      return this.schema.getPossibleTypes(other).some((member) => possible.includes(member));
    });
  }

  /** Writes a root field: a new one, or an earlier root field and its arguments with another selection. */
  #root(depth: number): string {
    const query = this.schema.getQueryType();
    const isRepeated = this.#roots.length > 0 && this.#isOneOf(4);
    const head = isRepeated ? this.#pick(this.#roots) : this.#newRoot();
    const field = query?.getFields()[/(?:: )?(\w+)\(/.exec(head)?.[1] ?? ''];
    if (!field) throw new Error(`No root field: ${head}`);
    return head + this.#directive() + this.#below(field, depth);
  }

  #newRoot(): string {
    const name = this.#pick('payment payments payout payouts node attempt attempts changes'.split(' '));
    const odd = this.#isOneOf(4) ? ODD_NAMES[this.#roots.length] : undefined;
    const alias = `${odd ?? `r${this.#roots.length}`}: `;
    const head = `${alias}${name}(${this.#argumentsOf(name).join(', ')})`;
    this.#roots.push(head);
    return head;
  }

  #argumentsOf(name: string): string[] {
    const kind = name.startsWith('payment') ? 'payment' : 'payout';
    if (name === 'node') return [this.#argument('id', 'ID!', this.#nodeId())];
    if (name === 'attempt') return [this.#argument('idempotencyKey', 'ID!', this.#pick(ATTEMPT_KEYS))];
    const channel = this.#argument('channel', 'UUID!', CHANNEL);
    if (name in OPTIONAL) return [channel, ...this.#optionalArgumentsOf(name)];
    if (name.endsWith('s')) {
      const count = this.g(fc.integer, { min: 0, max: 4 });
      const ids = Array.from({ length: count }, () => this.#id(kind));
      return [channel, this.#argument('transactionIds', '[UUID!]!', ids)];
    }
    const id = (): string => this.#argument('transactionId', 'UUID', this.#id(kind));
    const externalId = (): string =>
      this.#argument('externalId', 'String', this.#pick(['order-1', 'order-2']));
    const some = this.#pick([[id], [id], [externalId], this.options.fails ? [] : [id]]);
    return [channel, ...some.map((argument) => argument())];
  }

  #optionalArgumentsOf(field: string): string[] {
    return (OPTIONAL[field] ?? []).flatMap(([name, type, values, invalid = []]) => {
      const possible = this.options.fails ? [...values, ...invalid] : values;
      return this.#isOneOf(2) ? [this.#argument(name, type, this.#pick(possible))] : [];
    });
  }

  #id(kind: 'payment' | 'payout'): string {
    const others = this.options.fails ? [MISSING, ...FAILING] : [MISSING];
    return this.#isOneOf(5) ? this.#pick(others) : this.#pick(FOUND[kind]);
  }

  #nodeId(): string {
    if (this.options.fails && this.#isOneOf(6)) return 'no-node';
    const kind = this.#pick(['payment', 'payout'] as const);
    return nodeId(kind, this.#id(kind));
  }

  #argument(name: string, type: string, value: unknown): string {
    return `${name}: ${this.#isOneOf(2) ? JSON.stringify(value) : this.#variable(type, value)}`;
  }

  /** Declares a variable. `value` is its value, its default, or both. */
  #variable(type: string, value: unknown): string {
    const name = `v${this.#variables.length}`;
    const hasDefault = this.#isOneOf(3);
    this.#variables.push(
      `$${name}: ${type}${hasDefault && value !== null ? ` = ${JSON.stringify(value)}` : ''}`,
    );
    if (!hasDefault || this.#isOneOf(2)) this.values[name] = value;
    return `$${name}`;
  }
}

/** Whether a document is valid. A random document may select two fields under one name. */
const isValid = (schema: GraphQLSchema, query: string): boolean => {
  const document = parse(query);
  return validate(schema, document).length === 0;
};

/** Returns a random valid operation of the schema. Skips the run if the written document is invalid. */
export function operationOf(schema: GraphQLSchema, g: GeneratorValue, options: Options): Operation {
  const operation = new Writer(schema, g, options).write();
  fc.pre(isValid(schema, operation.query));
  return operation;
}
