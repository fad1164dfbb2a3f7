import type { WireObject } from '../schema/methods/sandbox-behaviour';
import { invalid } from './refusal';
import { isObject } from './wire-object';

const MAX_DEPTH = 32;
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:]/g;

/** One JSON object, in UTF-8, without a byte order mark and without a name given twice. */
export function parseStrictJson(bytes: Buffer): WireObject {
  const text = decode(bytes);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own message quotes the text: it must reach neither the answer nor the log.
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

/** `text` is known to be valid JSON: strings and brackets are all there is to look at. */
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
  if (names?.has(name)) throw invalid({ body: 'must not give a name twice' });
  names?.add(name);
}
