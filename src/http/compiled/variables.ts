import {
  isInputType,
  isNonNullType,
  typeFromAST,
  valueFromAST,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { InputReaders } from './input-reader';

type Variables = Record<string, unknown>;

/** The variables of a request as an operation has them; null where one does not fit. */
export type ReadVariables = (given: Variables) => Variables | null;

/** Does what getVariableValues of graphql-js does, but looks the types up once, and stops at the first that does not fit. */
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

/** One set for each schema: the readers of its input types are many, and the same for every operation. */
const readersOf = new WeakMap<GraphQLSchema, InputReaders>();

function readersFor(schema: GraphQLSchema): InputReaders {
  const known = readersOf.get(schema) ?? new InputReaders();
  readersOf.set(schema, known);
  return known;
}
