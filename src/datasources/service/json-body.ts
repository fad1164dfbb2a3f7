import { isWireObject, type WireObject } from '../../schema/wire';
import type { RawAnswer } from './transport';

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The JSON value in an answer, or undefined when there is none: content type, encoding and text are checked. */
export function readJson({ headers, body }: RawAnswer): unknown {
  const type = String(headers['content-type'] ?? '').toLowerCase();
  const encoding = headers['content-encoding'] ?? 'identity';
  if (!/^application\/([\w.-]+\+)?json\s*(;|$)/.test(type) || encoding !== 'identity') return undefined;
  try {
    const text = utf8.decode(body);
    const value: unknown = JSON.parse(text);
    return repeatsAName(text) ? undefined : value;
  } catch {
    return undefined;
  }
}

/** The JSON object in an answer, or undefined when it is not one. */
export function readJsonObject(raw: RawAnswer): WireObject | undefined {
  const value = readJson(raw);
  return isWireObject(value) ? value : undefined;
}

const STRING_OR_MARK = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

/**
 * Whether an object of a valid JSON text has a name twice. JSON.parse keeps the last one and says nothing, but which
 * of two transaction ids is meant nobody knows.
 */
export function repeatsAName(text: string): boolean {
  const open: (Set<string> | null)[] = [];
  let previous = '';
  for (const [token] of text.matchAll(STRING_OR_MARK)) {
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(null);
    else if (token === '}' || token === ']') open.pop();
    else if (token === ':') {
      const names = open.at(-1);
      const name = JSON.parse(previous) as string;
      if (names?.has(name)) return true;
      names?.add(name);
    }
    previous = token;
  }
  return false;
}
