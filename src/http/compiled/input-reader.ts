import {
  getNullableType,
  isInputObjectType,
  isListType,
  isNonNullType,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLLeafType,
} from 'graphql';

/** A value of a request as an input type has it. Throws, without a word, where it does not fit. */
export type ReadInput = (value: unknown) => unknown;

interface Field {
  name: string;
  read: ReadInput;
  isRequired: boolean;
  defaultValue: unknown;
}

const MISFIT = new Error('A value does not fit.');

function refuse(): never {
  throw MISFIT;
}

/**
 * Reads the values of input types as coerceInputValue of graphql-js does, with each type looked up once; of values that do
 * not fit it says nothing.
 */
export class InputReaders {
  /** Input types may hold themselves: the reader of each is there before those of its fields. */
  readonly #ofObjects = new Map<GraphQLInputObjectType, ReadInput>();

  of(type: GraphQLInputType): ReadInput {
    const read = this.#readerOfPresent(getNullableType(type));
    const absent = isNonNullType(type) ? refuse : () => null;
    return (value) => (value === null || value === undefined ? absent() : read(value));
  }

  #readerOfPresent(type: GraphQLInputType): ReadInput {
    if (isListType(type)) {
      const read = this.of(type.ofType);
      return (value) => (Array.isArray(value) ? value.map((item) => read(item)) : [read(value)]);
    }
    if (isInputObjectType(type)) return this.#ofObjects.get(type) ?? this.#objectReader(type);
    const leaf = type as GraphQLLeafType;
    return (value) => (leaf.parseValue(value) as unknown) ?? refuse();
  }

  #objectReader(type: GraphQLInputObjectType): ReadInput {
    const fields: Field[] = [];
    const names = new Set(Object.keys(type.getFields()));
    const { isOneOf } = type;
    const read: ReadInput = (given) => {
      if (typeof given !== 'object' || given === null || Array.isArray(given)) return refuse();
      checkNames(given, names, isOneOf);
      return readFields(given as Record<string, unknown>, fields);
    };
    this.#ofObjects.set(type, read);
    for (const { name, type: ofField, defaultValue } of Object.values(type.getFields()))
      fields.push({ name, read: this.of(ofField), isRequired: isNonNullType(ofField), defaultValue });
    return read;
  }
}

/** Refuses names that the type does not have, and more or less than one where exactly one must be given, and not as null. */
function checkNames(given: object, names: ReadonlySet<string>, isOneOf: boolean): void {
  let count = 0;
  for (const name in given) {
    if (!names.has(name)) refuse();
    if (isOneOf && (given as Record<string, unknown>)[name] === null) refuse();
    count += 1;
  }
  if (isOneOf && count !== 1) refuse();
}

function readFields(given: Record<string, unknown>, fields: readonly Field[]): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { name, read, isRequired, defaultValue } of fields) {
    if (Object.hasOwn(given, name)) values[name] = read(given[name]);
    else if (defaultValue !== undefined) values[name] = defaultValue;
    else if (isRequired) refuse();
  }
  return values;
}
