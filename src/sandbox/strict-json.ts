import { isObject, type WireObject } from '../shared/wire-object';
import { invalidRequest } from './http-error';

const MAX_DEPTH = 32;
const JSON_TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:]/g;

/** Parses a JSON object in UTF-8. Throws if it has a byte order mark or duplicate names, or is nested too deeply. */
export function parseStrictJson(bytes: Buffer): WireObject {
  const text = decode(bytes);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's message quotes the text, which must not be logged or returned.
    throw invalidRequest({ body: 'must be valid JSON' });
  }
  checkNamesAndDepth(text);
  if (!isObject(value)) throw invalidRequest({ body: 'must be a JSON object' });
  return value;
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw invalidRequest({ body: 'must be valid UTF-8' });
  }
}

/** Throws if valid JSON has an object with a duplicate name or the name `__proto__`, or is nested too deeply. */
function checkNamesAndDepth(text: string): void {
  const openScopes: Set<string>[] = [];
  let lastToken = '';
  for (const [token] of text.matchAll(JSON_TOKENS)) {
    if (token === '{' || token === '[') openScopes.push(new Set());
    else if (token === '}' || token === ']') openScopes.pop();
    else if (token === ':') addUniqueName(openScopes.at(-1), lastToken);
    if (openScopes.length > MAX_DEPTH) throw invalidRequest({ body: 'is nested too deeply' });
    lastToken = token;
  }
}

function addUniqueName(names: Set<string> | undefined, token: string): void {
  const name = String(JSON.parse(token));
  if (name === '__proto__') throw invalidRequest({ body: 'must not use __proto__ as a name' });
  if (names?.has(name)) throw invalidRequest({ body: 'must not contain a name twice' });
  names?.add(name);
}
