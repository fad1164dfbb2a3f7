import { isWireObject, type WireObject } from '../../schema/wire';
import type { RawAnswer } from './exchange';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The JSON value in an answer, or undefined when there is none: content type, encoding and text are checked. */
export function readJson({ headers, body }: RawAnswer): unknown {
  const type = String(headers['content-type'] ?? '').toLowerCase();
  const encoding = headers['content-encoding'] ?? 'identity';
  if (!/^application\/([\w.-]+\+)?json\s*(;|$)/.test(type) || encoding !== 'identity') return undefined;
  try {
    const text = utf8.decode(body);
    const value: unknown = JSON.parse(text);
    return repeatsAName(text, value) ? undefined : value;
  } catch {
    return undefined;
  }
}

/** The JSON object in an answer, or undefined when it is not one. */
export function readJsonObject(raw: RawAnswer): WireObject | undefined {
  const value = readJson(raw);
  return isWireObject(value) ? value : undefined;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/**
 * Whether an object of a valid JSON text has a name twice. JSON.parse keeps the last one and says nothing, but which
 * of two transaction ids is meant nobody knows. Found by counting: a colon stands behind every name that was written.
 * @param value what JSON.parse made of the text
 */
export const repeatsAName = (text: string, value: unknown): boolean => colonsIn(text) !== namesIn(value);

/** The colons outside strings. */
function colonsIn(text: string): number {
  let colons = 0;
  let isString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) isString = !isString;
    else if (!isString) colons += code === COLON ? 1 : 0;
    // What follows it belongs to the string.
    else if (code === BACKSLASH) at += 1;
  }
  return colons;
}

/** The names of all objects in a JSON value. Without recursion: what was sent may be nested as deep as it is long. */
function namesIn(value: unknown): number {
  let names = 0;
  const open: unknown[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    const isList = Array.isArray(next);
    for (const name in next) {
      if (!isList) names += 1;
      const inner = (next as WireObject)[name];
      if (typeof inner === 'object') open.push(inner);
    }
  }
  return names;
}
