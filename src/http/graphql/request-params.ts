import { parseStrictJson } from '../../shared/json-text';
import { isObject } from '../../shared/wire-object';
import { badRequestError } from './http-error';

/** Unvalidated parameters of a GraphQL request, from a POST body, a GET URL or a WebSocket message. */
export interface GraphQLRequestParams {
  query?: unknown;
  operationName?: unknown;
  variables?: unknown;
  extensions?: unknown;
  /** Id of a persisted operation (GraphQL over HTTP). Apollo clients send a hash in `extensions` instead. */
  documentId?: unknown;
}

/** Whether a URL can be decoded: its percent-encodings are valid UTF-8. */
export function isPercentEncodedUtf8(url: string): boolean {
  try {
    decodeURIComponent(url);
    return true;
  } catch {
    return false;
  }
}

/**
 * Parses the parameters in the URL of a GET request. Throws a RequestError if the URL is not percent-encoded UTF-8, a
 * parameter occurs twice, or variables or extensions are not JSON. validateParams() checks the types.
 */
export function parseGetParams(url: string): GraphQLRequestParams {
  if (/[^\x21-\x7e]/.test(url) || !isPercentEncodedUtf8(url))
    throw badRequestError('The URL is not percent-encoded UTF-8.');
  const { searchParams } = new URL(url, 'http://gateway/');
  if (new Set(searchParams.keys()).size < searchParams.size)
    throw badRequestError('The URL has a duplicate parameter.');
  const { variables, extensions, ...rest } = Object.fromEntries(searchParams);
  return {
    ...rest,
    ...(variables !== undefined && { variables: parseJsonParam('variables', variables) }),
    ...(extensions !== undefined && { extensions: parseJsonParam('extensions', extensions) }),
  };
}

function parseJsonParam(paramName: string, jsonText: string): unknown {
  try {
    return parseStrictJson(jsonText);
  } catch {
    throw badRequestError(`The URL parameter ${paramName} must be JSON without duplicate names.`);
  }
}

/** Encodes parameters for a URL: the inverse of parseGetParams(). */
export function encodeGetParams(params: GraphQLRequestParams): URLSearchParams {
  const searchParams = new URLSearchParams();
  for (const [name, value] of Object.entries(params))
    if (value !== undefined)
      searchParams.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  return searchParams;
}

/** Throws a RequestError if a parameter other than `documentId` has the wrong type. Null and absent are accepted. */
export function validateParams({ query, operationName, variables, extensions }: GraphQLRequestParams): void {
  if (typeof (query ?? '') !== 'string') throw badRequestError('query must be a string.');
  if (typeof (operationName ?? '') !== 'string') throw badRequestError('operationName must be a string.');
  if (!isObject(variables ?? {})) throw badRequestError('variables must be an object.');
  if (!isObject(extensions ?? {})) throw badRequestError('extensions must be an object.');
}
