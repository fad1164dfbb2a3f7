import {
  coerceInputValue,
  isInputType,
  isNonNullType,
  typeFromAST,
  valueFromAST,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';

type Variables = Record<string, unknown>;

/** The variables of a request as an operation has them; null where one does not fit. */
export type ReadVariables = (given: Variables) => Variables | null;

/** Does what getVariableValues of graphql-js does, but looks the types up once, and stops at the first that does not fit. */
export function variablesReader(
  schema: GraphQLSchema,
  { variableDefinitions = [] }: OperationDefinitionNode,
): ReadVariables {
  const defined = variableDefinitions.map(({ variable, type: node, defaultValue }) => {
    const type = typeFromAST(schema, node);
    if (!isInputType(type)) throw new TypeError('The operation is not valid.');
    const byDefault = defaultValue && { value: valueFromAST(defaultValue, type) };
    return { name: variable.name.value, type, isRequired: isNonNullType(type), byDefault };
  });
  return (given) => {
    const variables: Variables = {};
    try {
      for (const { name, type, isRequired, byDefault } of defined) {
        if (!Object.hasOwn(given, name)) {
          if (byDefault) variables[name] = byDefault.value;
          else if (isRequired) return null;
        } else if (isRequired && given[name] === null) return null;
        else variables[name] = coerceInputValue(given[name], type, stop);
      }
    } catch {
      return null;
    }
    return variables;
  };
}

const MISFIT = new Error('A variable does not fit.');

function stop(): never {
  throw MISFIT;
}
