import { GraphQLError, Kind, parse, visit, type Source, type ValueNode } from 'graphql';
import type { InvalidValue, ValueRuleName } from '../../schema/value-rules';
import { MAX_DOCUMENT_TOKENS } from '../limits/document-limits';
import { redactGraphqlName } from '../../redaction/graphql-message';

/** Maps error messages of graphql-js to violated rules. Errors of custom scalars have `extensions.rule` instead. */
const RULE_BY_PATTERN: readonly (readonly [RegExp, ValueRuleName])[] = [
  [/^Expected non-nullable type /, 'required'],
  [/^(Field|Variable|Argument) "[^"]*" of (required|non-null) type "/, 'required'],
  [/^Field "[^"]*" must be non-null\./, 'required'],
  [/^Expected value of type "[^"]*", found null\.$/, 'required'],
  // Reported only for null in a variable that has a default value: validation rejects all other invalid values.
  [/^Argument "[^"]*" has invalid value /, 'required'],
  [/^Field "[^"]*" is not defined by type "/, 'unknownField'],
  [/^Exactly one key must be specified for OneOf type /, 'oneOf'],
  [/^OneOf Input Object "[^"]*" must specify exactly one key\./, 'oneOf'],
  [/^Value .* does not exist in "[^"]*" enum\./s, 'enum'],
  [/^Enum "[^"]*" cannot represent /, 'enum'],
  [/^String cannot represent /, 'string'],
  [/^ID cannot represent /, 'id'],
  [/^Int cannot represent /, 'int'],
  [/^Boolean cannot represent /, 'boolean'],
  [/^Expected type "[^"]*" to be an object\./, 'object'],
  [/^Expected value of type "[^"]*", found /, 'object'],
];

const MISSING_ARGUMENT_PATTERN =
  /^Field "[^"]*" argument "([^"]*)" of type "[^"]*" is required, but it was not provided\.$/;

interface ValueLocation {
  /**
   * Offset in the document at which the value, or the input field with the value, begins. Identifies the location: the
   * node of an error has the same offset.
   */
  documentOffset: number | undefined;
  /** Name of the variable if the value is a variable; otherwise undefined. */
  variableName: string | undefined;
  /** Path to the value: name of the argument or variable, then names of input fields and list indexes. */
  path: readonly string[];
}

/**
 * Cache of value locations by document: an operation may have many errors, and all of them refer to the same document.
 */
const valueLocationsBySource = new WeakMap<Source, readonly ValueLocation[]>();

/** Returns the locations of all argument values and variable defaults of a document, with all values nested in them. */
function valueLocationsOf(source: Source): readonly ValueLocation[] {
  const cachedValueLocations = valueLocationsBySource.get(source);
  if (cachedValueLocations) return cachedValueLocations;
  const valueLocations: ValueLocation[] = [];
  const addValueLocations = (valueNode: ValueNode, path: readonly string[]): void => {
    const variableName = valueNode.kind === Kind.VARIABLE ? valueNode.name.value : undefined;
    valueLocations.push({ documentOffset: valueNode.loc?.start, variableName, path });
    if (valueNode.kind === Kind.LIST)
      valueNode.values.forEach((value, index) => addValueLocations(value, [...path, String(index)]));
    if (valueNode.kind !== Kind.OBJECT) return;
    for (const { name, value, loc } of valueNode.fields) {
      const fieldPath = [...path, name.value];
      valueLocations.push({ documentOffset: loc?.start, variableName: undefined, path: fieldPath });
      addValueLocations(value, fieldPath);
    }
  };
  visit(parse(source, { maxTokens: MAX_DOCUMENT_TOKENS }), {
    Argument: ({ name, value }) => addValueLocations(value, [name.value]),
    VariableDefinition: ({ variable, defaultValue }) =>
      defaultValue && addValueLocations(defaultValue, [variable.name.value]),
  });
  valueLocationsBySource.set(source, valueLocations);
  return valueLocations;
}

/** Formats a path for the caller: removes a leading `input` unless it is the whole path. Redacts possible secrets. */
const toPublicPath = (path: readonly string[]): string[] =>
  (path[0] === 'input' && path.length > 1 ? path.slice(1) : path).map((nameOrIndex) =>
    /^\d{1,4}$/.test(nameOrIndex) ? nameOrIndex : redactGraphqlName(nameOrIndex),
  );

/** Returns the field name from a message about a missing, null or unknown field; undefined for other messages. */
const fieldNameIn = (reason: string): string | undefined =>
  /^Field "(?:[^".]*\.)?([^".]*)" (?:of required|is not defined|must be non-null)/.exec(reason)?.[1];

/**
 * Returns the path to an invalid value within a variable; empty if the whole variable is invalid. Parses the error
 * message, which ends with `reason`, because the error has no property for the path.
 */
function pathInVariable(message: string, reason: string): string[] {
  const textBeforeReason = message.endsWith(reason) ? message.slice(0, -reason.length) : '';
  const [, path = ''] = / at "([^"\\]*)"; $/.exec(textBeforeReason) ?? [];
  return (path.match(/[_A-Za-z]\w*|\d+/g) ?? []).slice(1);
}

/**
 * Returns the paths to an invalid value in a variable: one path for each argument or input field that uses the
 * variable. If nothing uses the variable, returns one path that starts with the variable's name.
 */
function pathsOfVariable(variableName: string, error: GraphQLError, reason: string): (readonly string[])[] {
  const reportedFieldName = /must be non-null/.test(reason) ? undefined : fieldNameIn(reason);
  const pathInValue = pathInVariable(error.message, reason);
  // Redact the field name: it comes from the caller's JSON and may be any text, such as a security code.
  if (reportedFieldName !== undefined) pathInValue.push(redactGraphqlName(reportedFieldName));
  const valueLocations = error.source ? valueLocationsOf(error.source) : [];
  const pathsOfUses = valueLocations
    .filter((use) => use.variableName === variableName)
    .map(({ path }) => path);
  return (pathsOfUses.length > 0 ? pathsOfUses : [[variableName]]).map((path) => [...path, ...pathInValue]);
}

function pathsOfLiteral(error: GraphQLError, reason: string): (readonly string[])[] {
  const documentOffset = error.nodes?.[0]?.loc?.start;
  const valueLocation =
    error.source &&
    valueLocationsOf(error.source).find((candidate) => candidate.documentOffset === documentOffset);
  if (!valueLocation) return [];
  const fieldName = /is not defined/.test(reason) ? undefined : fieldNameIn(reason);
  return [fieldName === undefined ? valueLocation.path : [...valueLocation.path, fieldName]];
}

/** Returns the path and rule of each invalid value that an error reports; undefined if it reports none. */
export function invalidValuesOf(error: unknown): InvalidValue[] | undefined {
  if (!(error instanceof GraphQLError)) return undefined;
  const { fields } = error.extensions;
  if (Array.isArray(fields)) return fields as InvalidValue[];
  const [, missingArgument] = MISSING_ARGUMENT_PATTERN.exec(error.message) ?? [];
  if (missingArgument !== undefined) return [{ path: toPublicPath([missingArgument]), rule: 'required' }];
  const [node] = error.nodes ?? [];
  const { originalError, message } = error;
  const isVariableError = originalError instanceof GraphQLError && message.startsWith('Variable "');
  const reason = isVariableError ? originalError.message : message;
  const rule = error.extensions['rule'] ?? RULE_BY_PATTERN.find(([pattern]) => pattern.test(reason))?.[1];
  if (typeof rule !== 'string') return undefined;
  const documentPaths =
    node?.kind === Kind.VARIABLE_DEFINITION
      ? pathsOfVariable(node.variable.name.value, error, reason)
      : pathsOfLiteral(error, reason);
  if (documentPaths.length === 0) return undefined;
  const distinctPaths = new Map(documentPaths.map(toPublicPath).map((path) => [path.join('.'), path]));
  return [...distinctPaths.values()].map((path) => ({ path, rule }));
}
