import type { SandboxMethods, SandboxPaymentMethod } from '../schema/methods/sandbox-behaviour';
import type { WireObject } from '../shared/wire-object';
import { redactCardData, withoutCardData } from './cards';
import {
  amountValue,
  currencyCode,
  freeText,
  methodFieldRule,
  plainText,
  uuid,
  httpUrl,
} from './field-rules';
import { ObjectReader, Problems } from './object-reader';
import type { Amount } from './transaction';
import { omit } from './wire-object';

interface RequestFlow {
  flow: 'redirect' | 'direct';
  /** Whether the response has the fields that the server-to-server flow adds (spec 2.5 note 1). */
  hasDirectFlowFields: boolean;
}

interface CreateRequest {
  channel: string;
  amount: Amount;
  externalId?: string;
  callbackUrl?: string;
  /** The method's fields, with a masked card number and without the security code. */
  fields: WireObject;
}

interface PaymentRequest extends CreateRequest, RequestFlow {
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
  const returnUrl = reader.optional('return_url', httpUrl);
  const callbackUrl = reader.optional('callback_url', httpUrl);
  reader.optional('description', freeText);
  reader.finish();
  if (!method && type !== '') part.reader.addProblem('type', 'is not a known method');
  const fields = omit(part.fields, 'type');
  const flow = method && readMethodFields(part.reader, method, Object.keys(fields));
  problems.throwIfAny();
  if (!method || !flow) throw new Error('A request without a method passed validation.');
  const kept = method.anyFields ? redactCardData(fields) : withoutCardData(fields);
  return { channel, amount, externalId, returnUrl, callbackUrl, method, fields: kept, ...flow };
}

/** Reads a payout request. Unknown payout types are valid and may have any fields (spec 2.8, "or others"). */
export function readPayoutRequest(body: WireObject, methods: SandboxMethods['payouts']): PayoutRequest {
  const problems = new Problems();
  const reader = new ObjectReader(body, problems);
  const channel = reader.required('channel', uuid);
  const part = reader.object('payout_method');
  const type = part.reader.required('type');
  const method = methods.get(type);
  const amount = readAmount(reader, method?.currency);
  const externalId = reader.required('external_id', plainText);
  const callbackUrl = reader.optional('callback_url', httpUrl);
  reader.optional('description', freeText);
  reader.finish();
  if (method) readNamedFields(part.reader, method);
  problems.throwIfAny();
  const fields = omit(part.fields, 'type');
  const kept = method ? withoutCardData(fields) : redactCardData(fields);
  return { channel, amount, externalId, callbackUrl, type, fields: kept };
}

function readAmount(body: ObjectReader, onlyCurrency: string | undefined): Amount {
  const { reader } = body.object('amount');
  const currency = reader.required('currency', currencyCode);
  const value = reader.required('value', amountValue);
  if (onlyCurrency && currency !== onlyCurrency) {
    reader.addProblem('currency', `must be ${onlyCurrency} for this method`);
  }
  reader.finish();
  return { currency, value };
}

function readMethodFields(
  reader: ObjectReader,
  method: SandboxPaymentMethod,
  names: readonly string[],
): RequestFlow {
  const flow = flowOf(method, names);
  const { required = [], optional = [] } =
    flow.flow === 'redirect' ? { required: method.redirect } : { ...method.direct };
  readNamedFields(reader, { required, optional, allowsOthers: method.anyFields });
  return flow;
}

/**
 * Returns the flow of a payment request: `direct` if the method has no redirect flow, or if it has both and the request has
 * a field that the redirect flow does not have; otherwise `redirect`.
 */
function flowOf({ redirect, direct }: SandboxPaymentMethod, names: readonly string[]): RequestFlow {
  const hasOthers = names.some((name) => !redirect?.includes(name));
  if (direct && (!redirect || hasOthers)) return { flow: 'direct', hasDirectFlowFields: true };
  const fields = direct && [...direct.required, ...(direct.optional ?? [])];
  const hasSameFields =
    fields?.length === redirect?.length && fields?.every((name) => redirect?.includes(name));
  return { flow: 'redirect', hasDirectFlowFields: hasSameFields === true };
}

interface AllowedFields {
  required: readonly string[];
  optional?: readonly string[];
  allowsOthers?: boolean;
}

function readNamedFields(
  reader: ObjectReader,
  { required, optional = [], allowsOthers = false }: AllowedFields,
): void {
  for (const name of required) reader.required(name, methodFieldRule(name));
  for (const name of optional) reader.optional(name, methodFieldRule(name));
  if (!allowsOthers) reader.finish();
}
