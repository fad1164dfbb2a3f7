import type { FastifyRequest } from 'fastify';
import type { WireObject } from '../schema/methods/sandbox-behaviour';
import { isJson, rawBody } from './api';
import { guardForm } from './control-guard';
import { FAULT_KINDS, type Fault } from './fault-injector';
import { plainText, receivedValue, uuid, type Rule } from './field-rules';
import { ObjectReader, Problems } from './object-reader';
import type { TransactionError } from './final-states';
import { invalid } from './refusal';
import { parseStrictJson } from './strict-json';

const DAY_MS = 86_400_000;

/** The body of a request to the control plane: JSON, or a form of the console. */
export function controlBody(request: FastifyRequest): { fields: WireObject; form: boolean } {
  const bytes = rawBody(request);
  if (isJson(request)) return { fields: bytes.length === 0 ? {} : parseStrictJson(bytes), form: false };
  const type = request.headers['content-type'] ?? '';
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(type)) {
    throw invalid({ 'Content-Type': 'must be application/json' });
  }
  guardForm(request);
  // A form sends every field it has: those left empty were not given.
  const given = [...new URLSearchParams(bytes.toString('utf8'))].filter(([, value]) => value !== '');
  return { fields: Object.fromEntries(given), form: true };
}

function read<T>(fields: WireObject, take: (reader: ObjectReader) => T): T {
  const problems = new Problems();
  const reader = new ObjectReader(fields, problems);
  const taken = take(reader);
  reader.finish();
  problems.throwIfAny();
  return taken;
}

export function readNothing(fields: WireObject): void {
  read(fields, () => undefined);
}

export function readDecline(fields: WireObject): TransactionError | undefined {
  return read(fields, (reader) => {
    const code = reader.optional('code', plainText);
    const message = reader.optional('message', plainText);
    if (code === undefined && message === undefined) return undefined;
    return { code: code ?? 'DECLINED_GENERIC', message: message ?? 'The payment was declined' };
  });
}

export function readReceived(fields: WireObject): string | undefined {
  return read(fields, (reader) => reader.optional('received', receivedValue));
}

export function readAdvance(fields: WireObject): number {
  return read(fields, (reader) => reader.integer('ms', { min: 0, max: 400 * DAY_MS }));
}

export function readPaging(query: WireObject): { limit: number; before?: string } {
  return read(query, (reader) => ({
    limit: reader.integer('limit', { min: 1, max: 500, otherwise: 50 }),
    before: reader.optional('before', uuid),
  }));
}

function oneOf<const T extends string>(
  words: readonly T[],
): { rule: Rule; pick(word?: string): T | undefined } {
  const pick = (word?: string) => words.find((one) => one === word);
  return { rule: (word) => (pick(word) ? undefined : `must be one of ${words.join(', ')}`), pick };
}

const operations = oneOf(['create', 'lookup', 'confirm']);
const resources = oneOf(['payment', 'payout']);
const kinds = oneOf(FAULT_KINDS);

export function readFault(fields: WireObject): Fault {
  return read(fields, (reader) => ({
    operation: operations.pick(reader.required('operation', operations.rule)) ?? 'create',
    resource: resources.pick(reader.optional('resource', resources.rule)),
    fault: kinds.pick(reader.required('fault', kinds.rule)) ?? 'delay',
    times: reader.integer('times', { min: 1, max: 10_000, otherwise: 1 }),
    ms: reader.integer('ms', { min: 0, max: DAY_MS, otherwise: 1000 }),
    status: reader.integer('status', { min: 400, max: 599, otherwise: 503 }),
  }));
}
