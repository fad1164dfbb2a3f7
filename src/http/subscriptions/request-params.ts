import type { AskedOperation } from '../graphql/admission';
import { RequestError } from '../graphql/http-error';

const badRequest = (message: string): RequestError =>
  new RequestError({ status: 400, code: 'BAD_REQUEST', message });

const isObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isMissing = (value: unknown): boolean => value === undefined || value === null;

/** Refuses what is no request for an operation, as Apollo does for queries: it is not known then what is meant. */
export function validateParams({ query, operationName, variables, extensions }: AskedOperation): void {
  if (!isMissing(query) && typeof query !== 'string') throw badRequest('query must be a text.');
  if (!isMissing(operationName) && typeof operationName !== 'string')
    throw badRequest('operationName must be a text.');
  if (!isMissing(variables) && !isObject(variables)) throw badRequest('variables must be an object.');
  if (!isMissing(extensions) && !isObject(extensions)) throw badRequest('extensions must be an object.');
}
