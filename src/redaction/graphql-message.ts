import { holdsToken } from './text';

/**
 * graphql-js prints what the caller wrote into its errors: values, whole objects, pieces of the document. Here every
 * message is taken apart and built again from its fixed words and from names; a value is never carried over.
 */

/** Names as GraphQL has them: of types, fields, arguments, variables, operations. A long run of digits is no name. */
const NAME = /^[$@]?[_A-Za-z][_0-9A-Za-z]{0,127}$/;
const TYPE = /^\[*[_A-Za-z][_0-9A-Za-z]{0,127}[!\]]*$/;
const PATH = /^[$]?[_A-Za-z][_0-9A-Za-z]*(\.[_A-Za-z][_0-9A-Za-z]*|\[\d+\])*$/;
const MANY_DIGITS = /\d[\d_]{4,}/;

const isName = (text: string): boolean =>
  !MANY_DIGITS.test(text) &&
  !holdsToken(text) &&
  (NAME.test(text) || TYPE.test(text) || (text.length <= 512 && PATH.test(text)));

/** A name as callers may see it: hidden when it may be a secret or is no name. */
export const shownName = (text: string): string => (isName(text) ? text : '[hidden]');

/** Words outside quotes: letters, and the marks that graphql-js's own sentences are made of. */
const SENTENCE = /^[A-Za-z0-9 ,.;:()'?@$_{}=[\]!-]*$/;

/** A message whose quoted parts are names only; undefined when something else stands between them. */
function rebuildSentence(message: string): string | undefined {
  const parts = message.split('"');
  if (parts.length % 2 === 0 || message.length > 2000) return undefined;
  const outside = parts.filter((_, place) => place % 2 === 0);
  if (!outside.every((text) => SENTENCE.test(text) && !MANY_DIGITS.test(text))) return undefined;
  return parts.map((text, place) => (place % 2 === 0 ? text : shownName(text))).join('"');
}

type Rebuild = (found: RegExpExecArray) => string | undefined;

/** The messages that carry a value, and what is kept of each. The value runs to the end, or to a sentence of ours. */
const WITH_VALUE: readonly (readonly [RegExp, Rebuild])[] = [
  [
    /^Expected value of type "([^"]*)", found /s,
    ([, type = '']) => `A value that does not fit "${shownName(type)}".`,
  ],
  [
    /^Value .* does not exist in "([^"]*)" enum\./s,
    ([, name = '']) => `The value is none of the enum "${shownName(name)}".`,
  ],
  [
    /^Enum "([^"]*)" cannot represent /,
    ([, name = '']) => `The value is none of the enum "${shownName(name)}".`,
  ],
  [
    /^(String|Int|Float|Boolean|ID) cannot represent [\w\s()-]*value/,
    ([, name = '']) => `The value does not fit ${name}.`,
  ],
  [
    /^Syntax Error: Document contains more tha. (\d+) tokens/,
    ([, limit = '']) => `The document has more than ${limit} tokens.`,
  ],
  [/^GraphQL introspection is not allowed/, () => 'Introspection is off: INTROSPECTION=on allows it.'],
  [/^Syntax Error: Unexpected character/, () => 'Syntax Error: Unexpected character.'],
  [
    /^Syntax Error: Expected ([\w" $@!().:=[\]{|}&-]*?), found /,
    ([, what = '']) => `Syntax Error: Expected ${what}.`,
  ],
  [/^Syntax Error: Unexpected /, () => 'Syntax Error: Unexpected token.'],
  [
    /^Syntax Error: (Unterminated string|Invalid (number|character|Unicode))/,
    ([, what = '']) => `Syntax Error: ${what}.`,
  ],
  [/^Syntax Error: /, () => 'Syntax Error.'],
];

/** A message of graphql-js fit for the outside; undefined when nothing of it can be shown. */
export function publicMessage(message: string): string | undefined {
  for (const [pattern, rebuild] of WITH_VALUE) {
    const found = pattern.exec(message);
    if (found) return rebuild(found);
  }
  return rebuildSentence(message);
}

/**
 * The message for a variable that does not fit its type: graphql-js prints the value first, then where in it, then why.
 * @param reason the message of the inner error, which ends the outer one
 */
export function publicVariableMessage(message: string, reason: string): string {
  const [, variable = ''] = /^Variable "([^"]*)"/.exec(message) ?? [];
  const inner = publicMessage(reason);
  if (inner?.startsWith('Variable "')) return inner;
  const head = message.endsWith(reason) ? message.slice(0, -reason.length) : '';
  const [, path = variable] = / at "([^"\\]*)"; $/.exec(head) ?? [];
  const where = path === variable ? '' : ` at "${shownName(path)}"`;
  return `Variable "${shownName(variable)}"${where}: ${inner ?? 'the value does not fit its type.'}`;
}
