/**
 * Functions that parse JSON. They enforce two rules of RFC 7493 (I-JSON): the text is in UTF-8, and no object has two
 * fields of the same name.
 */

import { readFileSync } from 'node:fs';

const utf8Decoder = new TextDecoder('utf-8', { fatal: true });

/**
 * Thrown for bytes that are not UTF-8, and for a JSON text in which an object has two fields of the same name. The
 * message contains no part of the text.
 */
export class StrictJsonError extends Error {}

/** Decodes UTF-8 and omits a byte order mark. Throws a StrictJsonError if the bytes are not UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8Decoder.decode(bytes);
  } catch {
    throw new StrictJsonError('the text is not UTF-8');
  }
}

/** Reads a file and decodes it as UTF-8. Throws an Error if it cannot be read or is not UTF-8. */
export const readTextFile = (filePath: string): string => decodeUtf8(readFileSync(filePath));

/**
 * Parses JSON. Throws a SyntaxError if the text is not JSON, and a StrictJsonError if an object has two fields of the
 * same name.
 */
export function parseStrictJson(text: string): unknown {
  const parsed: unknown = JSON.parse(text);
  if (hasDuplicateFields(text, parsed)) throw new StrictJsonError('an object contains the same field twice');
  return parsed;
}

const QUOTE_CODE = 0x22;
const BACKSLASH_CODE = 0x5c;
const COLON_CODE = 0x3a;

/**
 * Whether an object in a JSON text has two fields of the same name. `value` must be the result of JSON.parse(), which
 * keeps only the last of such fields. If there are such fields, the text has more colons outside strings than `value`
 * has fields.
 */
export const hasDuplicateFields = (text: string, value: unknown): boolean =>
  countColonsOutsideStrings(text) !== countFields(value);

function countColonsOutsideStrings(text: string): number {
  let colonCount = 0;
  let isInString = false;
  for (let index = 0; index < text.length; index += 1) {
    const charCode = text.charCodeAt(index);
    if (charCode === QUOTE_CODE) isInString = !isInString;
    else if (!isInString) colonCount += charCode === COLON_CODE ? 1 : 0;
    // Skip the escaped character.
    else if (charCode === BACKSLASH_CODE) index += 1;
  }
  return colonCount;
}

/** Counts the fields of all objects in a value. Not recursive: a deeply nested value would overflow the stack. */
function countFields(value: unknown): number {
  let fieldCount = 0;
  const unvisited = [value];
  while (unvisited.length > 0) {
    const next = unvisited.pop();
    if (typeof next !== 'object' || next === null) continue;
    const innerValues: unknown[] = Object.values(next);
    if (!Array.isArray(next)) fieldCount += innerValues.length;
    for (const innerValue of innerValues) if (typeof innerValue === 'object') unvisited.push(innerValue);
  }
  return fieldCount;
}
