import { GraphQLError, Kind, parse, visit, type Source, type ValueNode } from 'graphql';
import type { InvalidValue, ValueRule } from '../../schema/value-rules';
import { MAX_TOKENS } from '../limits/document-limits';
import { redactName } from '../../redaction/graphql-message';

/** The rules behind messages of graphql-js. Scalars of this schema have theirs in `extensions.rule`. */
const RULES: readonly (readonly [RegExp, ValueRule])[] = [
  [/^Expected non-nullable type /, 'required'],
  [/^(Field|Variable|Argument) "[^"]*" of (required|non-null) type "/, 'required'],
  [/^Field "[^"]*" must be non-null\./, 'required'],
  [/^Expected value of type "[^"]*", found null\.$/, 'required'],
  // Literals have been validated: this is a null in a variable with a default.
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

const MISSING_ARGUMENT =
  /^Field "[^"]*" argument "([^"]*)" of type "[^"]*" is required, but it was not provided\.$/;

const ruleOf = (error: GraphQLError, reason: string): string | undefined => {
  const { rule } = error.extensions;
  return typeof rule === 'string' ? rule : RULES.find(([pattern]) => pattern.test(reason))?.[1];
};

interface Place {
  /** Offset of its first character; identifies the value. */
  start: number | undefined;
  /** Name of the variable, when it is one. */
  variable: string | undefined;
  path: readonly string[];
}

/** Cache: the errors of an operation share a source. */
const placesBySource = new WeakMap<Source, readonly Place[]>();

/** Every argument value of a document, and every value inside it. */
function placesOf(source: Source): readonly Place[] {
  const cached = placesBySource.get(source);
  if (cached) return cached;
  const places: Place[] = [];
  const add = (node: ValueNode, path: readonly string[]): void => {
    const variable = node.kind === Kind.VARIABLE ? node.name.value : undefined;
    places.push({ start: node.loc?.start, variable, path });
    if (node.kind === Kind.LIST) node.values.forEach((value, index) => add(value, [...path, String(index)]));
    if (node.kind !== Kind.OBJECT) return;
    for (const { name, value, loc } of node.fields) {
      const inner = [...path, name.value];
      places.push({ start: loc?.start, variable: undefined, path: inner });
      add(value, inner);
    }
  };
  visit(parse(source, { maxTokens: MAX_TOKENS }), {
    Argument: ({ name, value }) => add(value, [name.value]),
    VariableDefinition: ({ variable, defaultValue }) =>
      defaultValue && add(defaultValue, [variable.name.value]),
  });
  placesBySource.set(source, places);
  return places;
}

/** A path as in FieldError: from the input object down, with redacted names. */
const publicPath = (path: readonly string[]): string[] =>
  (path[0] === 'input' && path.length > 1 ? path.slice(1) : path).map((name) =>
    /^\d{1,4}$/.test(name) ? name : redactName(name),
  );

/** The name of a field that is missing in its parent object, or unknown. */
const fieldIn = (reason: string): string | undefined =>
  /^Field "(?:[^".]*\.)?([^".]*)" (?:of required|is not defined|must be non-null)/.exec(reason)?.[1];

/** The path inside a variable, without its name. graphql-js has it in the message only. */
function pathInVariable(message: string, reason: string): string[] {
  const head = message.endsWith(reason) ? message.slice(0, -reason.length) : '';
  const [, path = ''] = / at "([^"\\]*)"; $/.exec(head) ?? [];
  return (path.match(/[_A-Za-z]\w*|\d+/g) ?? []).slice(1);
}

/** The paths of an invalid value in a variable: one for each use of the variable. */
function pathsOfVariable(variable: string, error: GraphQLError, reason: string): (readonly string[])[] {
  const field = /must be non-null/.test(reason) ? undefined : fieldIn(reason);
  // The field is a key of the caller's JSON, which may be anything, such as three digits.
  const below = [
    ...pathInVariable(error.message, reason),
    ...(field === undefined ? [] : [redactName(field)]),
  ];
  const places = error.source ? placesOf(error.source) : [];
  const uses = places.filter((place) => place.variable === variable).map(({ path }) => path);
  return (uses.length > 0 ? uses : [[variable]]).map((path) => [...path, ...below]);
}

function pathsOfLiteral(error: GraphQLError, reason: string): (readonly string[])[] {
  const start = error.nodes?.[0]?.loc?.start;
  const place = error.source && placesOf(error.source).find((each) => each.start === start);
  if (!place) return [];
  const field = /is not defined/.test(reason) ? undefined : fieldIn(reason);
  return [field === undefined ? place.path : [...place.path, field]];
}

/** The invalid values behind an error, with path and rule; undefined when the error is about something else. */
export function valueErrors(error: unknown): InvalidValue[] | undefined {
  if (!(error instanceof GraphQLError)) return undefined;
  const { fields } = error.extensions;
  if (Array.isArray(fields)) return fields as InvalidValue[];
  const [, missing] = MISSING_ARGUMENT.exec(error.message) ?? [];
  if (missing !== undefined) return [{ path: publicPath([missing]), rule: 'required' }];
  const [node] = error.nodes ?? [];
  const { originalError, message } = error;
  const isWrapped = originalError instanceof GraphQLError && message.startsWith('Variable "');
  const reason = isWrapped ? originalError.message : message;
  const rule = ruleOf(error, reason);
  if (rule === undefined) return undefined;
  const paths =
    node?.kind === Kind.VARIABLE_DEFINITION
      ? pathsOfVariable(node.variable.name.value, error, reason)
      : pathsOfLiteral(error, reason);
  const distinct = new Map(paths.map(publicPath).map((path) => [path.join('.'), path]));
  return paths.length === 0 ? undefined : [...distinct.values()].map((path) => ({ path, rule }));
}
