import type { SandboxMethods, SandboxPaymentMethod, WireObject } from '../schema/methods/sandbox-behaviour';
import { scrubbedFields, withoutCardData } from './cards';
import {
  amountValue,
  currencyCode,
  freeText,
  methodFieldRule,
  plainText,
  uuid,
  webAddress,
} from './field-rules';
import { ObjectReader, Problems } from './object-reader';
import type { Amount } from './transaction';
import { without } from './wire-object';

/** Which way a payment goes, and whether its answer carries what the server-to-server flow adds (spec 2.5 note 1). */
export interface Flow {
  flow: 'redirect' | 'direct';
  adds: boolean;
}

export interface PaymentRequest extends Flow {
  channel: string;
  amount: Amount;
  externalId?: string;
  returnUrl?: string;
  callbackUrl?: string;
  method: SandboxPaymentMethod;
  /** Without card data. */
  fields: WireObject;
}

/** A request that holds nothing beyond the redirect flow's fields is a redirect request. */
export function flowOf(method: SandboxPaymentMethod, names: readonly string[]): Flow {
  const { redirect, direct } = method;
  const beyond = names.some((name) => !redirect?.includes(name));
  if (direct && (!redirect || beyond)) return { flow: 'direct', adds: true };
  const asked = direct && [...direct.required, ...(direct.optional ?? [])];
  const sameFields = asked?.length === redirect?.length && asked?.every((name) => redirect?.includes(name));
  return { flow: 'redirect', adds: sameFields === true };
}

export function readPaymentRequest(body: WireObject, methods: SandboxMethods['payments']): PaymentRequest {
  const problems = new Problems();
  const reader = new ObjectReader(body, problems);
  const channel = reader.required('channel', uuid);
  const part = reader.object('payment_method');
  const type = part.reader.required('type');
  const method = methods.get(type);
  const amount = readAmount(reader, method?.currency);
  const externalId = reader.optional('external_id', plainText);
  const returnUrl = reader.optional('return_url', webAddress);
  const callbackUrl = reader.optional('callback_url', webAddress);
  reader.optional('description', freeText);
  reader.finish();
  if (!method && type !== '') part.reader.refuse('type', 'is not a known method');
  const flow = method && readMethodFields(part, method);
  problems.throwIfAny();
  if (!method || !flow) throw new Error('a request without a method broke no rule');
  const fields = without(part.fields, 'type');
  const kept = method.anyFields ? scrubbedFields(fields) : withoutCardData(fields);
  return { channel, amount, externalId, returnUrl, callbackUrl, method, fields: kept, ...flow };
}

export function readAmount(body: ObjectReader, onlyCurrency: string | undefined): Amount {
  const { reader } = body.object('amount');
  const currency = reader.required('currency', currencyCode);
  const value = reader.required('value', amountValue);
  if (onlyCurrency && currency !== onlyCurrency) {
    reader.refuse('currency', `must be ${onlyCurrency} for this method`);
  }
  reader.finish();
  return { currency, value };
}

function readMethodFields(
  part: { reader: ObjectReader; fields: WireObject },
  method: SandboxPaymentMethod,
): Flow {
  const names = Object.keys(part.fields).filter((name) => name !== 'type');
  const flow = flowOf(method, names);
  const required = flow.flow === 'redirect' ? method.redirect : method.direct?.required;
  const optional = flow.flow === 'redirect' ? [] : method.direct?.optional;
  readNamedFields(part.reader, { required: required ?? [], optional, any: method.anyFields });
  return flow;
}

export interface NamedFields {
  required: readonly string[];
  optional?: readonly string[];
  any?: boolean;
}

export function readNamedFields(reader: ObjectReader, fields: NamedFields): void {
  for (const name of fields.required) reader.required(name, methodFieldRule(name));
  for (const name of fields.optional ?? []) reader.optional(name, methodFieldRule(name));
  if (!fields.any) reader.finish();
}
