import type { SandboxMethods, SandboxPaymentMethod } from '../schema/methods/sandbox-behaviour';
import type { WireObject } from '../shared/wire-object';
import { redactFields, withoutCardData } from './cards';
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

interface Flow {
  flow: 'redirect' | 'direct';
  /** Whether the response has the fields that the server-to-server flow adds (spec 2.5 note 1). */
  adds: boolean;
}

interface CreateRequest {
  channel: string;
  amount: Amount;
  externalId?: string;
  callbackUrl?: string;
  /** The method's fields, without card data. */
  fields: WireObject;
}

interface PaymentRequest extends CreateRequest, Flow {
  returnUrl?: string;
  method: SandboxPaymentMethod;
}

interface PayoutRequest extends CreateRequest {
  externalId: string;
  type: string;
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
  if (!method && type !== '') part.reader.reject('type', 'is not a known method');
  const fields = without(part.fields, 'type');
  const flow = method && readMethodFields(part.reader, method, Object.keys(fields));
  problems.throwIfAny();
  if (!method || !flow) throw new Error('A request without a method passed validation.');
  const kept = method.anyFields ? redactFields(fields) : withoutCardData(fields);
  return { channel, amount, externalId, returnUrl, callbackUrl, method, fields: kept, ...flow };
}

/** Unknown types are valid and have any fields (spec 2.8, "or others"). */
export function readPayoutRequest(body: WireObject, methods: SandboxMethods['payouts']): PayoutRequest {
  const problems = new Problems();
  const reader = new ObjectReader(body, problems);
  const channel = reader.required('channel', uuid);
  const part = reader.object('payout_method');
  const type = part.reader.required('type');
  const method = methods.get(type);
  const amount = readAmount(reader, method?.currency);
  const externalId = reader.required('external_id', plainText);
  const callbackUrl = reader.optional('callback_url', webAddress);
  reader.optional('description', freeText);
  reader.finish();
  if (method) readNamedFields(part.reader, method);
  problems.throwIfAny();
  const fields = without(part.fields, 'type');
  const kept = method ? withoutCardData(fields) : redactFields(fields);
  return { channel, amount, externalId, callbackUrl, type, fields: kept };
}

function readAmount(body: ObjectReader, onlyCurrency: string | undefined): Amount {
  const { reader } = body.object('amount');
  const currency = reader.required('currency', currencyCode);
  const value = reader.required('value', amountValue);
  if (onlyCurrency && currency !== onlyCurrency) {
    reader.reject('currency', `must be ${onlyCurrency} for this method`);
  }
  reader.finish();
  return { currency, value };
}

function readMethodFields(
  reader: ObjectReader,
  method: SandboxPaymentMethod,
  names: readonly string[],
): Flow {
  const flow = flowOf(method, names);
  const { required = [], optional = [] } =
    flow.flow === 'redirect' ? { required: method.redirect } : { ...method.direct };
  readNamedFields(reader, { required, optional, any: method.anyFields });
  return flow;
}

/** A request without fields beyond those of the redirect flow is a redirect request. */
function flowOf({ redirect, direct }: SandboxPaymentMethod, names: readonly string[]): Flow {
  const hasOthers = names.some((name) => !redirect?.includes(name));
  if (direct && (!redirect || hasOthers)) return { flow: 'direct', adds: true };
  const fields = direct && [...direct.required, ...(direct.optional ?? [])];
  const sameFields = fields?.length === redirect?.length && fields?.every((name) => redirect?.includes(name));
  return { flow: 'redirect', adds: sameFields === true };
}

interface NamedFields {
  required: readonly string[];
  optional?: readonly string[];
  any?: boolean;
}

function readNamedFields(reader: ObjectReader, { required, optional = [], any = false }: NamedFields): void {
  for (const name of required) reader.required(name, methodFieldRule(name));
  for (const name of optional) reader.optional(name, methodFieldRule(name));
  if (!any) reader.finish();
}
