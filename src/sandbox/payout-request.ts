import type { SandboxMethods, WireObject } from '../schema/methods/sandbox-behaviour';
import { scrubbedFields, withoutCardData } from './cards';
import { freeText, plainText, uuid, webAddress } from './field-rules';
import { ObjectReader, Problems } from './object-reader';
import { readAmount, readNamedFields } from './payment-request';
import type { Amount } from './transaction';
import { without } from './wire-object';

export interface PayoutRequest {
  channel: string;
  amount: Amount;
  externalId: string;
  callbackUrl?: string;
  type: string;
  /** Without card data. */
  fields: WireObject;
}

/** A type that the table does not know may exist all the same (spec 2.8, "or others"), with fields of its own. */
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
  const given = without(part.fields, 'type');
  const fields = method ? withoutCardData(given) : scrubbedFields(given);
  return { channel, amount, externalId, callbackUrl, type, fields };
}
