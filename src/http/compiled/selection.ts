import {
  getNullableType,
  isAbstractType,
  isLeafType,
  isListType,
  isNonNullType,
  Kind,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLAbstractType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

/** Selects fields from a resolved value. Throws a Fallback when graphql-js has to do it. */
export type Read = (value: unknown) => unknown;

/**
 * The operation has to be executed by graphql-js: a value is a promise, an error, or missing although non-null. A singleton,
 * because the stack is not used.
 */
export class Fallback extends Error {
  static readonly TAKEN = new Fallback();
}

/** Whether graphql-js would await a value, call it, or treat it as an error. */
const isSpecial = (value: unknown): boolean =>
  typeof value === 'function' ||
  (typeof value === 'object' &&
    value !== null &&
    (value instanceof Error || typeof (value as { then?: unknown }).then === 'function'));

interface Step {
  key: string;
  name: string;
  read: Read;
}

/** Limit of the fields of a selection, counting fragments for each type. All fields of all payments are some 300. */
const MAX_STEPS = 1000;

export class Selections {
  #steps = 0;

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  ) {}

  /**
   * Collects the fields that selection sets select from an object of a type, by response name, in response order.
   * @throws Fallback for directives and for too many fields
   */
  fieldsOf(type: GraphQLObjectType, sets: readonly SelectionSetNode[]): ReadonlyMap<string, FieldNode[]> {
    const fields = new Map<string, FieldNode[]>();
    const spread = new Set<string>();
    const add = (selection: SelectionNode): void => {
      if (selection.directives?.length) throw Fallback.TAKEN;
      if (selection.kind === Kind.FIELD) {
        const key = (selection.alias ?? selection.name).value;
        this.#steps += 1;
        if (this.#steps > MAX_STEPS || key === '__proto__') throw Fallback.TAKEN;
        const nodes = fields.get(key);
        if (nodes) nodes.push(selection);
        else fields.set(key, [selection]);
        return;
      }
      const fragment =
        selection.kind === Kind.INLINE_FRAGMENT ? selection : this.#fragment(selection.name.value, spread);
      if (fragment && this.#isOf(fragment.typeCondition?.name.value, type))
        fragment.selectionSet.selections.forEach(add);
    };
    sets.forEach(({ selections }) => selections.forEach(add));
    return fields;
  }

  reader(type: GraphQLOutputType, nodes: readonly FieldNode[]): Read {
    const read = this.#nullableReader(getNullableType(type), nodes);
    if (!isNonNullType(type)) return read;
    return (value) => read(value) ?? fallBack();
  }

  #nullableReader(type: GraphQLOutputType, nodes: readonly FieldNode[]): Read {
    const read = this.#readerOfPresent(type, nodes);
    return (value) => {
      if (value === null || value === undefined) return null;
      if (isSpecial(value)) return bailOut(value);
      return read(value);
    };
  }

  #readerOfPresent(type: GraphQLOutputType, nodes: readonly FieldNode[]): Read {
    if (isLeafType(type)) return (value) => type.serialize(value) ?? fallBack();
    if (isListType(type)) {
      const read = this.reader(type.ofType, nodes);
      return (value) => (Array.isArray(value) ? value.map(read) : fallBack());
    }
    const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    return isAbstractType(type)
      ? this.#abstractReader(type, sets)
      : this.#objectReader(type as GraphQLObjectType, sets);
  }

  /** The type of an object is known by its class (build-schema.ts). */
  #abstractReader(type: GraphQLAbstractType, sets: readonly SelectionSetNode[]): Read {
    const readers = new Map<string, Read>();
    const { resolveType } = type;
    return (value) => {
      const name = resolveType?.(value, undefined, undefined as never, type);
      if (typeof name !== 'string') throw Fallback.TAKEN;
      let read = readers.get(name);
      if (!read) {
        const concrete = this.schema.getPossibleTypes(type).find((possible) => possible.name === name);
        read = concrete ? this.#objectReader(concrete, sets) : fallBack;
        readers.set(name, read);
      }
      return read(value);
    };
  }

  #objectReader(type: GraphQLObjectType, sets: readonly SelectionSetNode[]): Read {
    const definitions = type.getFields();
    const steps = [...this.fieldsOf(type, sets)].map(([key, nodes]): Step => {
      const name = nodes[0]?.name.value ?? '';
      if (name === '__typename') return { key, name, read: () => type.name };
      const field = definitions[name];
      if (!field || field.resolve || field.args.length > 0) throw Fallback.TAKEN;
      return { key, name, read: this.reader(field.type, nodes) };
    });
    if (type.isTypeOf) throw Fallback.TAKEN;
    return (value) => {
      if (typeof value !== 'object') throw Fallback.TAKEN;
      const selected: Record<string, unknown> = {};
      for (const { key, name, read } of steps) selected[key] = read((value as Record<string, unknown>)[name]);
      return selected;
    };
  }

  /** A fragment when it is spread for the first time. */
  #fragment(name: string, spread: Set<string>): FragmentDefinitionNode | undefined {
    if (spread.has(name)) return undefined;
    spread.add(name);
    return this.fragments.get(name);
  }

  #isOf(condition: string | undefined, type: GraphQLObjectType): boolean {
    if (condition === undefined || condition === type.name) return true;
    const named = this.schema.getType(condition);
    return isAbstractType(named) && this.schema.isSubType(named, type);
  }
}

/** Handles the rejection of a promise that is not awaited, which would end the process. */
function bailOut(value: unknown): never {
  if (value instanceof Promise) value.catch(() => undefined);
  throw Fallback.TAKEN;
}

function fallBack(): never {
  throw Fallback.TAKEN;
}
