import type { AskedOperation } from '../admission';
import { Refusal } from '../refusal';

const badRequest = (message: string): Refusal => new Refusal({ status: 400, code: 'BAD_REQUEST', message });

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isMissing = (value: unknown): boolean => value === undefined || value === null;

/** Refuses what is no request for an operation, as Apollo does for queries: it is not known then what is meant. */
export function checkForm({ query, operationName, variables, extensions }: AskedOperation): void {
  if (!isMissing(query) && typeof query !== 'string') throw badRequest('query must be a text.');
  if (!isMissing(operationName) && typeof operationName !== 'string')
    throw badRequest('operationName must be a text.');
  if (!isMissing(variables) && !isObject(variables)) throw badRequest('variables must be an object.');
  if (!isMissing(extensions) && !isObject(extensions)) throw badRequest('extensions must be an object.');
}

/** What the address of a GET asks for. */
export function readGet(url: string): AskedOperation {
  const parameters = new URL(url, 'http://gateway/').searchParams;
  const names = [...parameters.keys()];
  if (new Set(names).size < names.length) throw badRequest('A parameter stands there twice.');
  const { variables, extensions, ...rest } = Object.fromEntries(parameters);
  return { ...rest, variables: parsed('variables', variables), extensions: parsed('extensions', extensions) };
}

function parsed(name: string, text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw badRequest(`${name} must be JSON.`);
  }
}
