import { Amount } from '../../../schema/amount';
import { findPaymentMethod } from '../../../schema/methods';
import type { PaymentMethodDefinition } from '../../../schema/methods/method-definition';
import { PaymentStatus, type PollAfterMsByPhase, type PaymentResource } from '../../../schema/payment';
import { toEnumValue } from '../../../schema/register-enum';
import { isPrintable } from '../../../shared/text';
import { readHttpUrl } from '../../../schema/scalars';
import { serviceFieldSpecsOf } from '../../../schema/lazy-field';
import {
  redactUnlessEnumValue,
  readVerbatim,
  readServiceMessage,
  readAmountOrCurrency,
  readTransactionStatus,
  redactUnlessTime,
} from '../../../redaction/text';
import { isObject, scalarToText, type WireObject } from '../../../shared/wire-object';
import { createTransactionError, type TransactionError } from '../../../schema/decline';
import type { RequestAmount } from './responses';

/** Details of a payment that are known without a response: from its request, lookup key or journal entry. */
export interface KnownPayment {
  channel: string;
  externalId?: string | null;
  /** The payment method of the create, the confirm or the journal entry. Used if the response has no method type. */
  definition?: PaymentMethodDefinition;
  /** Fields of payment_method in the request, named as in the API of the service. */
  methodFields?: WireObject;
  amount?: RequestAmount;
  /** Secrets of the request, such as the card number, which are redacted in the response. */
  secrets?: readonly string[];
}

const MAX_REDIRECT_URL_LENGTH = 8192;

/** Reads a payment from a response. Fields that the response lacks come from `known`, or stay undefined. */
export function readPayment(
  json: WireObject,
  known: KnownPayment,
  pollAfterMsByPhase: PollAfterMsByPhase,
): PaymentResource {
  const methodJson = isObject(json['payment_method']) ? json['payment_method'] : {};
  const methodType = scalarToText(methodJson['type']);
  const definition =
    methodType === null ? (known.definition ?? findPaymentMethod(null)) : findPaymentMethod(methodType);
  const payment = new definition.paymentClass(definition);
  const status = String(json['status']);
  Object.assign(payment, {
    wireType: redactUnlessEnumValue(methodType) ?? definition.type,
    transactionId: String(json['transaction_id']).toLowerCase(),
    channel: known.channel,
    externalId: readVerbatim(json['external_id']) ?? known.externalId,
    status: toEnumValue(PaymentStatus, PaymentStatus.UNKNOWN, status),
    rawStatus: readTransactionStatus(status),
    amount: readAmount(json['amount']) ?? amountFromRequest(known.amount),
    redirectUrl: readRedirectUrl(json['redirect_url']),
    createDate: redactUnlessTime(json['create_date']) ?? undefined,
    error: readTransactionError(json['error']),
    pollAfterMsByPhase,
  });
  const requestFields = known.methodFields ?? {};
  for (const { fieldName, findValue } of serviceFieldSpecsOf(Object.getPrototypeOf(payment)))
    Object.assign(payment, { [fieldName]: findValue(methodJson, json) ?? findValue(requestFields, {}) });
  return payment;
}

/** Reads an http(s) URL; undefined if it is invalid or contains credentials, which could hide its real host. */
function readRedirectUrl(urlJson: unknown): string | undefined {
  const url = readHttpUrl(readVerbatim(urlJson) ?? '', MAX_REDIRECT_URL_LENGTH);
  if (url === undefined || !isPrintable(url)) return undefined;
  if (!url.includes('@')) return url;
  const { username, password } = new URL(url);
  return username === '' && password === '' && !/^[^/]*\/\/[^/?#]*@/.test(url) ? url : undefined;
}

/** Reads an amount object (spec 2.2); undefined if it is absent or invalid. */
function readAmount(json: unknown): Amount | undefined {
  if (!isObject(json)) return undefined;
  const currency = readAmountOrCurrency(json['currency']);
  const value = readAmountOrCurrency(json['value']);
  if (currency === null || value === null) return undefined;
  return Object.assign(new Amount(), { currency, value, received: readAmountOrCurrency(json['received']) });
}

/** Converts the amount in a request, if any, to an Amount. Its `received` is null, which means unknown. */
export const amountFromRequest = (amount: RequestAmount | undefined): Amount | undefined =>
  amount && Object.assign(new Amount(), { currency: amount.currency, value: amount.value, received: null });

/** Reads the error object of a failed transaction (spec 7.2), redacted; undefined if it is absent. */
export function readTransactionError(errorJson: unknown): TransactionError | undefined {
  if (!isObject(errorJson)) return undefined;
  return createTransactionError(
    redactUnlessEnumValue(errorJson['code']) ?? '',
    readServiceMessage(errorJson['message']) ?? '',
  );
}

/** Whether a response lacks fields that a lookup would return (spec 2.3, 4.4, 4.5). */
export const isPartialResponse = (json: WireObject): boolean =>
  !isObject(json['payment_method']) || json['create_date'] === undefined || json['amount'] === undefined;

/** Fields that a partial response may lack, whatever the payment method. */
const COMMON_LAZY_FIELD_NAMES = ['amount', 'redirectUrl', 'createDate', 'error'];

/**
 * Adds a getter for each field that a payment lacks and a lookup may return. The first access to any of these fields
 * starts one lookup for all of them. Each getter returns a promise of the value. The promise resolves to null if the
 * lookup fails or finds nothing. `payment.loadCompletePayment` starts or joins the same lookup.
 */
export function addLazyFields(payment: PaymentResource, lookUp: () => Promise<PaymentResource | null>): void {
  let startedLookup: Promise<PaymentResource | null> | undefined;
  const loadCompletePayment = (): Promise<PaymentResource | null> =>
    (startedLookup ??= lookUp().catch(() => null));
  const serviceFieldSpecs = serviceFieldSpecsOf(Object.getPrototypeOf(payment));
  const fieldNames = [...COMMON_LAZY_FIELD_NAMES, ...serviceFieldSpecs.map(({ fieldName }) => fieldName)];
  for (const fieldName of fieldNames.filter((name) => isLazyField(payment, name))) {
    Object.defineProperty(payment, fieldName, {
      enumerable: true,
      get: () =>
        loadCompletePayment().then(
          (foundPayment): unknown => foundPayment && Reflect.get(foundPayment, fieldName),
        ),
    });
  }
  payment.loadCompletePayment = loadCompletePayment;
}

/**
 * Whether the field `fieldName` is missing and a lookup may return it. Only failed payments have the field `error`, and
 * only unfinished payments have the field `state`.
 */
function isLazyField(payment: PaymentResource, fieldName: string): boolean {
  if (Reflect.get(payment, fieldName) !== undefined) return false;
  if (fieldName === 'error') return payment.status === PaymentStatus.FAILED;
  if (fieldName === 'state')
    return payment.status !== PaymentStatus.COMPLETED && payment.status !== PaymentStatus.FAILED;
  return true;
}
