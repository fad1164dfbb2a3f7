import { decodeUtf8, parseJson } from '../../json-text';
import { isWireObject, type WireObject } from '../../schema/wire';
import type { RawAnswer } from './exchange';

/** The JSON value in an answer, or undefined when there is none: content type, encoding and text are checked. */
export function readJson({ headers, body }: RawAnswer): unknown {
  const type = String(headers['content-type'] ?? '').toLowerCase();
  const encoding = headers['content-encoding'] ?? 'identity';
  if (!/^application\/([\w.-]+\+)?json\s*(;|$)/.test(type) || encoding !== 'identity') return undefined;
  try {
    return parseJson(decodeUtf8(body) ?? '');
  } catch {
    return undefined;
  }
}

/** The JSON object in an answer, or undefined when it is not one. */
export function readJsonObject(raw: RawAnswer): WireObject | undefined {
  const value = readJson(raw);
  return isWireObject(value) ? value : undefined;
}
