import type { SandboxMethods, SandboxPaymentMethod } from '../schema/methods/sandbox-behaviour';
import type { WireObject } from '../shared/wire-object';
import { redactCardData, maskCardFields } from './cards';
import {
  positiveAmountRule,
  currencyCodeRule,
  noCardNumberRule,
  httpUrlRule,
  methodFieldRule,
  uuidRule,
} from './field-rules';
import { invalidRequestError } from './http-error';
import { ObjectReader, readObject } from './object-reader';

/**
 * Parses the body of a payment create. Masks the card number and drops the security code in the result. Throws a 400
 * error if the body is invalid.
 */
export function readPaymentRequest(
  bodyFields: WireObject,
  methodByType: SandboxMethods['paymentMethodByType'],
) {
  const reader = new ObjectReader(bodyFields);
  const { methodReader, type, method, ...common } = readCommonFields(reader, 'payment_method', methodByType);
  const externalId = reader.optionalString('external_id');
  const returnUrl = reader.optionalString('return_url', httpUrlRule);
  reader.rejectUnread();
  if (!method) {
    methodReader.addProblem('type', 'is not a known method');
    throw methodReader.toError();
  }
  const rawFields = methodReader.unreadFields();
  const { flow, responseHasAddedFields } = selectFlow(method, Object.keys(rawFields));
  const expectedFields = flow === 'direct' ? method.directFlow : { required: method.redirectFields };
  checkMethodFields(methodReader, expectedFields);
  if (!method.acceptsAnyFields) methodReader.rejectUnread();
  reader.throwIfInvalid();
  const methodFields = method.acceptsAnyFields ? redactCardData(rawFields) : maskCardFields(rawFields);
  return { ...common, type, method, externalId, returnUrl, flow, responseHasAddedFields, methodFields };
}

/**
 * Parses the body of a payout create. If the method is unknown, accepts it with any fields (spec 2.8, "or others").
 * Masks card numbers and removes security codes in the result. Throws a 400 error if the body is invalid.
 */
export function readPayoutRequest(body: WireObject, methodByType: SandboxMethods['payoutMethodByType']) {
  const reader = new ObjectReader(body);
  const { methodReader, method, ...common } = readCommonFields(reader, 'payout_method', methodByType);
  const externalId = reader.requiredString('external_id');
  reader.rejectUnread();
  const rawFields = methodReader.unreadFields();
  if (method) {
    checkMethodFields(methodReader, method);
    methodReader.rejectUnread();
  }
  reader.throwIfInvalid();
  const methodFields = method ? maskCardFields(rawFields) : redactCardData(rawFields);
  return { ...common, externalId, methodFields };
}

function readCommonFields<M extends { currency?: string }>(
  reader: ObjectReader,
  methodFieldName: 'payment_method' | 'payout_method',
  methodByType: ReadonlyMap<string, M>,
) {
  const channel = reader.requiredString('channel', uuidRule);
  const methodReader = reader.requiredObject(methodFieldName);
  const type = methodReader.requiredString('type');
  const method = methodByType.get(type);
  const amount = readAmount(reader.requiredObject('amount'), method?.currency);
  const callbackUrl = reader.optionalString('callback_url', httpUrlRule);
  reader.optionalString('description', noCardNumberRule);
  return { channel, methodReader, type, method, amount, callbackUrl };
}

function readAmount(amountReader: ObjectReader, requiredCurrency: string | undefined) {
  const currency = amountReader.requiredString('currency', currencyCodeRule);
  const value = amountReader.requiredString('value', positiveAmountRule);
  if (requiredCurrency && currency !== requiredCurrency) {
    amountReader.addProblem('currency', `must be ${requiredCurrency} for this method`);
  }
  amountReader.rejectUnread();
  return { currency, value };
}

/**
 * Selects the flow of a payment create. If the method has both flows, selects `redirect`, unless the request has a
 * field that is unknown in the redirect flow: then selects `direct` (server-to-server). If the method has only one
 * flow, selects that one.
 *
 * `responseHasAddedFields`: whether the response contains the fields of the method's `addedFields()`. It is true in the
 * direct flow. In the redirect flow it is true only if both flows have the same request fields (spec 2.5, note 1).
 */
function selectFlow({ redirectFields, directFlow }: SandboxPaymentMethod, fieldNames: readonly string[]) {
  if (directFlow && (!redirectFields || fieldNames.some((name) => !redirectFields.includes(name)))) {
    return { flow: 'direct', responseHasAddedFields: true } as const;
  }
  const directFieldNames = directFlow && [...directFlow.required, ...(directFlow.optional ?? [])];
  const responseHasAddedFields =
    directFieldNames?.length === redirectFields?.length &&
    directFieldNames?.every((fieldName) => redirectFields?.includes(fieldName));
  return { flow: 'redirect', responseHasAddedFields } as const;
}

function checkMethodFields(
  methodReader: ObjectReader,
  { required = [], optional = [] }: { required?: readonly string[]; optional?: readonly string[] } = {},
): void {
  for (const fieldName of required) methodReader.requiredString(fieldName, methodFieldRule(fieldName));
  for (const fieldName of optional) methodReader.optionalString(fieldName, methodFieldRule(fieldName));
}

/** Parses the parameters of a lookup. Throws a 400 error if a parameter is invalid or if both ids are missing. */
export const readLookupRequest = (queryFields: WireObject) =>
  readObject(queryFields, (reader) => {
    const channel = reader.requiredString('channel', uuidRule);
    const transactionId = reader.optionalString('transaction_id', uuidRule);
    const externalId = reader.optionalString('external_id');
    if (transactionId === undefined && externalId === undefined) {
      reader.addProblem('transaction_id', 'is required if external_id is absent');
    }
    return { channel, transactionId, externalId };
  });

/** Parses a query string (without the `?`). Throws a 400 error if it is malformed or if a name occurs twice. */
export function parseQuery(queryString: string): Record<string, string> {
  if (!/^(|[^=&]+=[^&]*(&[^=&]+=[^&]*)*)$/.test(queryString))
    throw invalidRequestError({ query: 'must be name=value pairs' });
  try {
    // decodeURIComponent() throws for malformed percent-encoding, which URLSearchParams would silently replace.
    decodeURIComponent(queryString);
  } catch {
    throw invalidRequestError({ query: 'must be percent-encoded UTF-8' });
  }
  const queryParameters = new URLSearchParams(queryString);
  if (new Set(queryParameters.keys()).size < queryParameters.size)
    throw invalidRequestError({ query: 'must not contain a name twice' });
  return Object.fromEntries(queryParameters);
}
