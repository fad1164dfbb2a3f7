import { REDACTED } from '../shared/secret';
import { containsToken } from './text';

/**
 * Error messages of graphql-js quote values, whole objects and parts of the document. They are rebuilt here from their fixed
 * words and from GraphQL names, without values.
 */

const NAME = /^[$@]?[_A-Za-z][_0-9A-Za-z]{0,127}$/;
const TYPE = /^\[*[_A-Za-z][_0-9A-Za-z]{0,127}[!\]]*$/;
const PATH = /^[$]?[_A-Za-z][_0-9A-Za-z]*(\.[_A-Za-z][_0-9A-Za-z]*|\[\d+\])*$/;
const MANY_DIGITS = /\d[\d_]{4,}/;

const isName = (text: string): boolean =>
  !MANY_DIGITS.test(text) &&
  !containsToken(text) &&
  (NAME.test(text) || TYPE.test(text) || (text.length <= 512 && PATH.test(text)));

/** A GraphQL name, redacted when it is none or may hold a secret. */
export const redactName = (text: string): string => (isName(text) ? text : REDACTED);

/** Text that graphql-js writes outside quotes. */
const SENTENCE = /^[A-Za-z0-9 ,.;:()'?@$_{}=[\]!-]*$/;

/** A message with only names in quotes; undefined when it may hold a value outside quotes. */
function rebuildSentence(message: string): string | undefined {
  const parts = message.split('"');
  if (parts.length % 2 === 0 || message.length > 2000) return undefined;
  const outside = parts.filter((_, place) => place % 2 === 0);
  if (!outside.every((text) => SENTENCE.test(text) && !MANY_DIGITS.test(text))) return undefined;
  return parts.map((text, place) => (place % 2 === 0 ? text : redactName(text))).join('"');
}

/** Messages that hold a value, and their replacements. {name} is the captured name, {text} the captured text. */
const WITH_VALUE: readonly (readonly [RegExp, string])[] = [
  [/^Expected value of type "([^"]*)", found /s, 'A value that does not fit "{name}".'],
  [/^Value .* does not exist in "([^"]*)" enum\./s, 'The value is none of the enum "{name}".'],
  [/^Enum "([^"]*)" cannot represent /, 'The value is none of the enum "{name}".'],
  [/^(String|Int|Float|Boolean|ID) cannot represent [\w\s()-]*value/, 'The value does not fit {name}.'],
  [/^Syntax Error: Document contains more tha. (\d+) tokens/, 'The document has more than {text} tokens.'],
  [/^GraphQL introspection is not allowed/, 'Introspection is off: INTROSPECTION=on allows it.'],
  [/^Syntax Error: Unexpected character/, 'Syntax Error: Unexpected character.'],
  [/^Syntax Error: Expected ([\w" $@!().:=[\]{|}&-]*?), found /, 'Syntax Error: Expected {text}.'],
  [/^Syntax Error: Unexpected /, 'Syntax Error: Unexpected token.'],
  [/^Syntax Error: (Unterminated string|Invalid (?:number|character|Unicode))/, 'Syntax Error: {text}.'],
  [/^Syntax Error: /, 'Syntax Error.'],
];

/** A message of graphql-js without values; undefined when it is unknown. */
export function publicMessage(message: string): string | undefined {
  for (const [pattern, template] of WITH_VALUE) {
    const [found, captured = ''] = pattern.exec(message) ?? [];
    if (found !== undefined)
      return template.replace('{name}', () => redactName(captured)).replace('{text}', () => captured);
  }
  return rebuildSentence(message);
}

/**
 * The message for an invalid variable without its value. graphql-js writes the value, then the path, then the reason.
 * @param reason the message of the inner error, with which the outer message ends
 */
export function publicVariableMessage(message: string, reason: string): string {
  const [, variable = ''] = /^Variable "([^"]*)"/.exec(message) ?? [];
  const inner = publicMessage(reason);
  if (inner?.startsWith('Variable "')) return inner;
  const head = message.endsWith(reason) ? message.slice(0, -reason.length) : '';
  const [, path = variable] = / at "([^"\\]*)"; $/.exec(head) ?? [];
  const where = path === variable ? '' : ` at "${redactName(path)}"`;
  return `Variable "${redactName(variable)}"${where}: ${inner ?? 'the value does not fit its type.'}`;
}
