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
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';

/** Reads out of a value that has arrived what is selected of it. Throws a Detour where graphql-js has to do it. */
export type Read = (value: unknown) => unknown;

/**
 * A value that is not plain: late, missing where it must not be, or an error. graphql-js then carries the operation out,
 * and says what is wrong with it. One object, as where it was thrown is of no interest.
 */
export class Fallback extends Error {
  static readonly TAKEN = new Fallback();
}

/** Whether graphql-js would wait for a value, call it, or take it for an error. */
const isSpecial = (value: unknown): boolean =>
  typeof value === 'function' ||
  (typeof value === 'object' &&
    value !== null &&
    (value instanceof Error || typeof (value as { then?: unknown }).then === 'function'));

interface Step {
  /** The field's name in the answer. */
  key: string;
  /** Its name in the object. */
  name: string;
  read: Read;
}

/**
 * So many fields of types a selection may come to: a fragment that is spread often, on types of many kinds, comes to far
 * more than was written. All fields of all payments are some three hundred.
 */
const MAX_STEPS = 1000;

/** The one name that an object takes for something else. */
const PROTO = '__proto__';

/** What one operation selects, each field looked up in the schema once. */
export class Selections {
  #steps = 0;

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  ) {}

  /**
   * The fields that selection sets select of an object of a type, by their names in the answer and in its order.
   * @throws Detour where a directive decides, and where there are too many
   */
  fieldsOf(type: GraphQLObjectType, sets: readonly SelectionSetNode[]): ReadonlyMap<string, FieldNode[]> {
    const fields = new Map<string, FieldNode[]>();
    const spread = new Set<string>();
    const add = (selection: SelectionNode): void => {
      if (selection.directives?.length) throw Fallback.TAKEN;
      if (selection.kind === Kind.FIELD) {
        const key = (selection.alias ?? selection.name).value;
        this.#steps += 1;
        if (this.#steps > MAX_STEPS || key === PROTO) throw Fallback.TAKEN;
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

  /** A reader of what a field's nodes select of its value. */
  reader(type: GraphQLOutputType, nodes: readonly FieldNode[]): Read {
    const read = this.#nullableReader(getNullableType(type), nodes);
    if (!isNonNullType(type)) return read;
    return (value) => read(value) ?? refuse();
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
    if (isLeafType(type)) return leafReader(type);
    if (isListType(type)) {
      const read = this.reader(type.ofType, nodes);
      return (value) => (Array.isArray(value) ? value.map(read) : refuse());
    }
    const sets = nodes.flatMap(({ selectionSet }) => selectionSet ?? []);
    return isAbstractType(type)
      ? this.#abstractReader(type, sets)
      : this.#objectReader(type as GraphQLObjectType, sets);
  }

  /** Objects of one class are of one type (build-schema.ts). */
  #abstractReader(type: GraphQLAbstractType, sets: readonly SelectionSetNode[]): Read {
    const readers = new Map<string, Read>();
    const { resolveType } = type;
    return (value) => {
      const name = resolveType?.(value, undefined, undefined as never, type);
      if (typeof name !== 'string') throw Fallback.TAKEN;
      let read = readers.get(name);
      if (!read) {
        const concrete = this.schema.getPossibleTypes(type).find((possible) => possible.name === name);
        read = concrete ? this.#objectReader(concrete, sets) : refuse;
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

  /** A fragment where it is spread for the first time. */
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

function leafReader(type: GraphQLLeafType): Read {
  return (value) => type.serialize(value) ?? refuse();
}

/** Takes the detour. What is under way already is not awaited here, and a rejection that nobody awaits ends the process. */
function bailOut(value: unknown): never {
  if (value instanceof Promise) value.catch(() => undefined);
  throw Fallback.TAKEN;
}

function refuse(): never {
  throw Fallback.TAKEN;
}
