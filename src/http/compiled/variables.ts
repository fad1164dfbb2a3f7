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

/** Coerces a value to an input type. Throws if the value is invalid. */
type ReadInput = (value: unknown) => unknown;

interface InputField {
  name: string;
  read: ReadInput;
  isRequired: boolean;
  defaultValue: unknown;
}

const INVALID_VALUE = new Error('invalid value');

function throwInvalid(): never {
  throw INVALID_VALUE;
}

/** Compiles input types to functions that coerce like coerceInputValue() of graphql-js, without error messages. */
class InputReaders {
  /** A reader is cached before the readers of its fields are created, because input types may be recursive. */
  readonly #readerByType = new Map<GraphQLInputObjectType, ReadInput>();

  coercerFor(type: GraphQLInputType): ReadInput {
    const read = this.#nonNullReader(getNullableType(type));
    const absent = isNonNullType(type) ? throwInvalid : () => null;
    return (value) => (value === null || value === undefined ? absent() : read(value));
  }

  #nonNullReader(type: GraphQLInputType): ReadInput {
    if (isListType(type)) {
      const read = this.coercerFor(type.ofType);
      return (value) => (Array.isArray(value) ? value.map((item) => read(item)) : [read(value)]);
    }
    if (isInputObjectType(type)) return this.#readerByType.get(type) ?? this.#objectReader(type);
    const leaf = type as GraphQLLeafType;
    return (value) => (leaf.parseValue(value) as unknown) ?? throwInvalid();
  }

  #objectReader(type: GraphQLInputObjectType): ReadInput {
    const fields: InputField[] = [];
    const names = new Set(Object.keys(type.getFields()));
    const { isOneOf } = type;
    const read: ReadInput = (given) => {
      if (typeof given !== 'object' || given === null || Array.isArray(given)) return throwInvalid();
      checkNames(given, names, isOneOf);
      return readFields(given as Record<string, unknown>, fields);
    };
    this.#readerByType.set(type, read);
    for (const { name, type: ofField, defaultValue } of Object.values(type.getFields()))
      fields.push({ name, read: this.coercerFor(ofField), isRequired: isNonNullType(ofField), defaultValue });
    return read;
  }
}

/** Throws if a field is unknown. For a OneOf type, throws unless there is exactly one field, which is not null. */
function checkNames(given: object, names: ReadonlySet<string>, isOneOf: boolean): void {
  let count = 0;
  for (const name in given) {
    if (!names.has(name)) throwInvalid();
    if (isOneOf && (given as Record<string, unknown>)[name] === null) throwInvalid();
    count += 1;
  }
  if (isOneOf && count !== 1) throwInvalid();
}

function readFields(given: Record<string, unknown>, fields: readonly InputField[]): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { name, read, isRequired, defaultValue } of fields) {
    if (Object.hasOwn(given, name)) values[name] = read(given[name]);
    else if (defaultValue !== undefined) values[name] = defaultValue;
    else if (isRequired) throwInvalid();
  }
  return values;
}

/** Coerces the variables of a request. Returns null if one is invalid. */
export type ReadVariables = (given: Variables) => Variables | null;

/** Returns a function that coerces variables like getVariableValues() of graphql-js, without error messages. */
export function variablesReader(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
): ReadVariables {
  const readers = readersFor(schema);
  const defined = variableDefinitions.map(({ variable, type: node, defaultValue }) => {
    const type = typeFromAST(schema, node);
    if (!isInputType(type)) throw new TypeError('The operation is not valid: a variable has no input type.');
    const read = readers.coercerFor(type);
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

/** The readers are shared by all operations of a schema. */
const readersBySchema = new WeakMap<GraphQLSchema, InputReaders>();

function readersFor(schema: GraphQLSchema): InputReaders {
  const known = readersBySchema.get(schema) ?? new InputReaders();
  readersBySchema.set(schema, known);
  return known;
}
