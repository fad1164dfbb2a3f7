import { parseJson } from '../../shared/json-text';
import type { AskedOperation } from './admission';
import { RequestError } from './http-error';

const badRequest = (message: string): RequestError =>
  new RequestError({ status: 400, code: 'BAD_REQUEST', message });

/** Whether an address is ASCII whose percent-encoding is that of UTF-8. */
function isPercentEncodedUtf8(url: string): boolean {
  if (/[^\x21-\x7e]/.test(url)) return false;
  try {
    decodeURIComponent(url);
    return true;
  } catch {
    return false;
  }
}

/**
 * The parameters of a GET, as a body would hold them.
 * @throws Refusal where another reader might understand them in another way
 */
export function readParameters(url: string): AskedOperation {
  if (!isPercentEncodedUtf8(url)) throw badRequest('The address is not percent-encoded UTF-8.');
  const parameters = new URL(url, 'http://gateway/').searchParams;
  if (new Set(parameters.keys()).size < parameters.size)
    throw badRequest('A parameter of the address stands there twice.');
  const { variables, extensions, ...rest } = Object.fromEntries(parameters);
  return {
    ...rest,
    ...(variables !== undefined && { variables: jsonOf('variables', variables) }),
    ...(extensions !== undefined && { extensions: jsonOf('extensions', extensions) }),
  };
}

function jsonOf(name: string, text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw badRequest(`${name} must be JSON in which no object has a name twice.`);
  }
}

/** The same the other way round. */
export function writeParameters(asked: AskedOperation): URLSearchParams {
  const texts = Object.entries(asked).flatMap(([name, value]): [string, string][] => {
    if (value === undefined) return [];
    return [[name, typeof value === 'string' ? value : JSON.stringify(value)]];
  });
  return new URLSearchParams(texts);
}
