import { decodeUtf8, parseJson } from '../../../shared/json-text';
import { isWireObject, type WireObject } from '../../../shared/wire-object';
import type { RawResponse } from './http-exchange';

/** The JSON value in an answer, or undefined when there is none: content type, encoding and text are checked. */
export function readJson({ headers, body }: RawResponse): unknown {
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
export function readJsonObject(raw: RawResponse): WireObject | undefined {
  const value = readJson(raw);
  return isWireObject(value) ? value : undefined;
}
