import {
  getNullableType,
  isInputObjectType,
  isListType,
  isInputType,
  isNonNullType,
  typeFromAST,
  valueFromAST,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLLeafType,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';

type Variables = Record<string, unknown>;

/** Coerces a value to an input type. Throws when it is invalid. */
type ReadInput = (value: unknown) => unknown;

interface Field {
  name: string;
  read: ReadInput;
  isRequired: boolean;
  defaultValue: unknown;
}

const INVALID = new Error('invalid value');

function invalid(): never {
  throw INVALID;
}

/** Does what coerceInputValue of graphql-js does, with each type compiled once and without error messages. */
class InputReaders {
  /** Input types may be recursive: the reader of each is cached before those of its fields are created. */
  readonly #ofObjects = new Map<GraphQLInputObjectType, ReadInput>();

  of(type: GraphQLInputType): ReadInput {
    const read = this.#readerOfPresent(getNullableType(type));
    const absent = isNonNullType(type) ? invalid : () => null;
    return (value) => (value === null || value === undefined ? absent() : read(value));
  }

  #readerOfPresent(type: GraphQLInputType): ReadInput {
    if (isListType(type)) {
      const read = this.of(type.ofType);
      return (value) => (Array.isArray(value) ? value.map((item) => read(item)) : [read(value)]);
    }
    if (isInputObjectType(type)) return this.#ofObjects.get(type) ?? this.#objectReader(type);
    const leaf = type as GraphQLLeafType;
    return (value) => (leaf.parseValue(value) as unknown) ?? invalid();
  }

  #objectReader(type: GraphQLInputObjectType): ReadInput {
    const fields: Field[] = [];
    const names = new Set(Object.keys(type.getFields()));
    const { isOneOf } = type;
    const read: ReadInput = (given) => {
      if (typeof given !== 'object' || given === null || Array.isArray(given)) return invalid();
      checkNames(given, names, isOneOf);
      return readFields(given as Record<string, unknown>, fields);
    };
    this.#ofObjects.set(type, read);
    for (const { name, type: ofField, defaultValue } of Object.values(type.getFields()))
      fields.push({ name, read: this.of(ofField), isRequired: isNonNullType(ofField), defaultValue });
    return read;
  }
}

/** Rejects unknown names; for OneOf types anything but one field that is not null. */
function checkNames(given: object, names: ReadonlySet<string>, isOneOf: boolean): void {
  let count = 0;
  for (const name in given) {
    if (!names.has(name)) invalid();
    if (isOneOf && (given as Record<string, unknown>)[name] === null) invalid();
    count += 1;
  }
  if (isOneOf && count !== 1) invalid();
}

function readFields(given: Record<string, unknown>, fields: readonly Field[]): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { name, read, isRequired, defaultValue } of fields) {
    if (Object.hasOwn(given, name)) values[name] = read(given[name]);
    else if (defaultValue !== undefined) values[name] = defaultValue;
    else if (isRequired) invalid();
  }
  return values;
}

/** Coerces the variables of a request; null when one is invalid. */
export type ReadVariables = (given: Variables) => Variables | null;

/** Does what getVariableValues of graphql-js does, with types compiled once, and without error messages. */
export function variablesReader(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
): ReadVariables {
  const readers = readersFor(schema);
  const defined = variableDefinitions.map(({ variable, type: node, defaultValue }) => {
    const type = typeFromAST(schema, node);
    if (!isInputType(type)) throw new TypeError('The operation is not valid.');
    const read = readers.of(type);
    const byDefault = defaultValue && { value: valueFromAST(defaultValue, type) };
    return { name: variable.name.value, read, isRequired: isNonNullType(type), byDefault };
  });
  return (given) => {
    const variables: Variables = {};
    try {
      for (const { name, read, isRequired, byDefault } of defined) {
        if (!Object.hasOwn(given, name)) {
          if (byDefault) variables[name] = byDefault.value;
          else if (isRequired) return null;
        } else if (isRequired && given[name] === null) return null;
        else variables[name] = read(given[name]);
      }
    } catch {
      return null;
    }
    return variables;
  };
}

/** Shared by the operations of a schema. */
const readersOf = new WeakMap<GraphQLSchema, InputReaders>();

function readersFor(schema: GraphQLSchema): InputReaders {
  const known = readersOf.get(schema) ?? new InputReaders();
  readersOf.set(schema, known);
  return known;
}
