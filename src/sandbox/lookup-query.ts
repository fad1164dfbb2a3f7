import { plainText, uuid } from './field-rules';
import { invalidRequest } from './http-error';
import { ObjectReader, Problems } from './object-reader';

export interface LookupQuery {
  channel: string;
  transactionId?: string;
  externalId?: string;
}

/** Reads the query string of a lookup, without its question mark. Throws a 400 error if it is invalid. */
export function readLookupQuery(raw: string): LookupQuery {
  const problems = new Problems();
  const reader = new ObjectReader(parseQuery(raw), problems);
  const channel = reader.required('channel', uuid);
  const transactionId = reader.optional('transaction_id', uuid);
  const externalId = reader.optional('external_id', plainText);
  reader.finish();
  if (transactionId === undefined && externalId === undefined) {
    problems.add('transaction_id', 'is required if external_id is absent');
  }
  problems.throwIfAny();
  return { channel, transactionId, externalId };
}

function parseQuery(raw: string): Record<string, string> {
  const given = new Map<string, string>();
  for (const pair of raw === '' ? [] : raw.split('&')) {
    const equals = pair.indexOf('=');
    if (equals < 1) throw invalidRequest({ query: 'must be name=value pairs' });
    const name = decodePart(pair.slice(0, equals));
    if (given.has(name)) throw invalidRequest({ query: 'must not contain a name twice' });
    given.set(name, decodePart(pair.slice(equals + 1)));
  }
  return Object.fromEntries(given);
}

function decodePart(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw invalidRequest({ query: 'must be percent-encoded UTF-8' });
  }
}
