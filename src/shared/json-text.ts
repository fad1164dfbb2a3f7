/** JSON from outside, read so that it has one meaning only (RFC 7493): UTF-8, and no name twice in one object. */

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The text of these bytes, without a byte order mark; undefined where they are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** The text of a file with these bytes, without a byte order mark. Throws an Error where it is not UTF-8. */
export function textOfFile(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes);
  if (text === undefined) throw new Error('it is not UTF-8');
  return text;
}

/** An object of a JSON text has a name twice. */
export class RepeatedNameError extends Error {
  constructor() {
    super('a name stands twice in one object');
    this.name = 'RepeatedNameError';
  }
}

/** The value of a JSON text. Throws a SyntaxError where it is not JSON, and a RepeatedNameError. */
export function parseJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (repeatsName(text, value)) throw new RepeatedNameError();
  return value;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/**
 * Whether an object of a valid JSON text has a name twice. JSON.parse keeps the last value without an error, and another
 * reader of the same text may have kept the first. Compares the number of names written, which is the number of colons
 * outside strings, with the number of names in the value.
 * @param value what JSON.parse made of the text
 */
export const repeatsName = (text: string, value: unknown): boolean => countColons(text) !== countNames(value);

/** The colons outside strings. */
function countColons(text: string): number {
  let colons = 0;
  let isString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) isString = !isString;
    else if (!isString) colons += code === COLON ? 1 : 0;
    // The next character is escaped: it does not end the string.
    else if (code === BACKSLASH) at += 1;
  }
  return colons;
}

/** The names of all objects in a JSON value. Iterative, because the value may be nested as deep as its text is long. */
function countNames(value: unknown): number {
  let names = 0;
  const open: unknown[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    const isList = Array.isArray(next);
    for (const name in next) {
      if (!isList) names += 1;
      const inner = (next as Record<string, unknown>)[name];
      if (typeof inner === 'object') open.push(inner);
    }
  }
  return names;
}
