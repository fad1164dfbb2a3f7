import { isObject, type WireObject } from '../shared/wire-object';
import { invalid } from './http-error';

const MAX_DEPTH = 32;
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:]/g;

/** Parses one JSON object in UTF-8, without a byte order mark and without duplicate names. */
export function parseStrictJson(bytes: Buffer): WireObject {
  const text = decode(bytes);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The message of the parser quotes the text, which must not be logged or returned.
    throw invalid({ body: 'must be valid JSON' });
  }
  checkNames(text);
  if (!isObject(value)) throw invalid({ body: 'must be a JSON object' });
  return value;
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw invalid({ body: 'must be valid UTF-8' });
  }
}

/** @param text valid JSON */
function checkNames(text: string): void {
  const open: Set<string>[] = [];
  let last = '';
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === '{' || token === '[') open.push(new Set());
    else if (token === '}' || token === ']') open.pop();
    else if (token === ':') addName(open.at(-1), last);
    if (open.length > MAX_DEPTH) throw invalid({ body: 'is nested too deeply' });
    last = token;
  }
}

function addName(names: Set<string> | undefined, token: string): void {
  const name = String(JSON.parse(token));
  if (name === '__proto__') throw invalid({ body: 'must not use __proto__ as a name' });
  if (names?.has(name)) throw invalid({ body: 'must not contain a name twice' });
  names?.add(name);
}
