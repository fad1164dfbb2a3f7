import { REDACTED } from '../shared/secret';
import { containsAuthToken } from './text';

// Redacts error messages of graphql-js, which quote values and parts of the document. The redacted messages consist of
// fixed words and GraphQL names, such as those of fields and types.

const GRAPHQL_NAME_PATTERN = /^[$@]?[_A-Za-z][_0-9A-Za-z]{0,127}$/;
const GRAPHQL_TYPE_PATTERN = /^\[*[_A-Za-z][_0-9A-Za-z]{0,127}[!\]]*$/;
const GRAPHQL_PATH_PATTERN = /^[$]?[_A-Za-z][_0-9A-Za-z]*(\.[_A-Za-z][_0-9A-Za-z]*|\[\d+\])*$/;
const MANY_DIGITS_PATTERN = /\d[\d_]{4,}/;

const isSafeGraphqlName = (text: string): boolean =>
  !MANY_DIGITS_PATTERN.test(text) &&
  !containsAuthToken(text) &&
  (GRAPHQL_NAME_PATTERN.test(text) ||
    GRAPHQL_TYPE_PATTERN.test(text) ||
    (text.length <= 512 && GRAPHQL_PATH_PATTERN.test(text)));

/** Returns a GraphQL name, type or path unchanged, unless it may contain a secret. Redacts every other text. */
export const redactGraphqlName = (text: string): string => (isSafeGraphqlName(text) ? text : REDACTED);

/** Matches texts with only characters that graphql-js writes outside quotes. */
const UNQUOTED_TEXT_PATTERN = /^[A-Za-z0-9 ,.;:()'?@$_{}=[\]!-]*$/;

/**
 * Redacts the quoted parts of a message that are no GraphQL names. Returns undefined if the message is too long or may
 * have unquoted values.
 */
function redactQuotedParts(message: string): string | undefined {
  const parts = message.split('"');
  if (parts.length % 2 === 0 || message.length > 2000) return undefined;
  const unquotedParts = parts.filter((_, index) => index % 2 === 0);
  if (!unquotedParts.every((text) => UNQUOTED_TEXT_PATTERN.test(text) && !MANY_DIGITS_PATTERN.test(text)))
    return undefined;
  return parts.map((text, index) => (index % 2 === 0 ? text : redactGraphqlName(text))).join('"');
}

/**
 * Patterns of messages that contain values, each with a replacement for the whole message. In a replacement, {text}
 * stands for the text that the pattern captures, and {name} for redactGraphqlName() of this text.
 */
const MESSAGE_REPLACEMENTS: readonly (readonly [RegExp, string])[] = [
  [/^Expected value of type "([^"]*)", found /s, 'The value does not fit type "{name}".'],
  [/^Value .* does not exist in "([^"]*)" enum\./s, 'The value is not in the enum "{name}".'],
  [/^Enum "([^"]*)" cannot represent /, 'The value is not in the enum "{name}".'],
  [/^(String|Int|Float|Boolean|ID) cannot represent [\w\s()-]*value/, 'The value does not fit type {name}.'],
  [/^Syntax Error: Document contains more tha. (\d+) tokens/, 'The document has more than {text} tokens.'],
  [/^GraphQL introspection is not allowed/, 'Introspection is off; INTROSPECTION=on allows it.'],
  [/^Syntax Error: Unexpected character/, 'Syntax Error: Unexpected character.'],
  [/^Syntax Error: Expected ([\w" $@!().:=[\]{|}&-]*?), found /, 'Syntax Error: Expected {text}.'],
  [/^Syntax Error: Unexpected /, 'Syntax Error: Unexpected token.'],
  [/^Syntax Error: (Unterminated string|Invalid (?:number|character|Unicode))/, 'Syntax Error: {text}.'],
  [/^Syntax Error: /, 'Syntax Error.'],
];

/**
 * Removes the values from an error message of graphql-js. Replaces a message that matches an entry of
 * MESSAGE_REPLACEMENTS. In any other message, redacts the quoted values; returns undefined if that message is too long
 * or may have unquoted values.
 */
export function redactGraphqlMessage(message: string): string | undefined {
  for (const [pattern, template] of MESSAGE_REPLACEMENTS) {
    const [match, captured = ''] = pattern.exec(message) ?? [];
    if (match !== undefined)
      return template.replace('{name}', () => redactGraphqlName(captured)).replace('{text}', () => captured);
  }
  return redactQuotedParts(message);
}

/**
 * Removes the value from an error message of graphql-js about a variable.
 * @param message for example `Variable "$input" got invalid value 1 at "input.id"; ` and then `causeMessage`
 * @param causeMessage the message of the original error, which explains why the value is invalid
 */
export function redactVariableMessage(message: string, causeMessage: string): string {
  const [, variableName = ''] = /^Variable "([^"]*)"/.exec(message) ?? [];
  const redactedCauseMessage = redactGraphqlMessage(causeMessage);
  if (redactedCauseMessage?.startsWith('Variable "')) return redactedCauseMessage;
  const textBeforeCause = message.endsWith(causeMessage) ? message.slice(0, -causeMessage.length) : '';
  const [, inputPath = variableName] = / at "([^"\\]*)"; $/.exec(textBeforeCause) ?? [];
  const pathSuffix = inputPath === variableName ? '' : ` at "${redactGraphqlName(inputPath)}"`;
  return `Variable "${redactGraphqlName(variableName)}"${pathSuffix}: ${redactedCauseMessage ?? 'the value does not fit its type.'}`;
}
