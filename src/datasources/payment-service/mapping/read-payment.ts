import { Amount } from '../../../schema/amount';
import { paymentRoomOf } from '../../../schema/methods';
import type { PaymentMethodDefinition } from '../../../schema/methods/method-definition';
import type { PollAfter } from '../../../shared/poll-after';
import { PaymentStatus, readWord, type PaymentResource } from '../../../schema/payment';
import { isPrintable } from '../../../shared/text';
import { readHttpUrl } from '../../../schema/scalars';
import { serviceFieldsOf } from '../../../schema/lazy-field';
import { passThrough, parseEnumWord, readStatus, readTime } from '../../../redaction/text';
import { isWireObject, wireText, type WireObject } from '../../../shared/wire-object';
import { readAmount, readError } from './read-common';

/** What the gateway knows of a payment beside the answer: from the lookup, or from the request. */
export interface KnownPayment {
  channel: string;
  externalId?: string | null;
  /** The method, where the request chose it. */
  room?: PaymentMethodDefinition;
  /** The fields of payment_method that were sent, in wire spelling. */
  fields?: WireObject;
  amount?: { currency: string; value: string };
  /** What the request handed in and must not come back. */
  secrets?: readonly string[];
}

const MAX_URL_OUT = 8192;
const NOTHING: WireObject = {};

/** A payment from the service's answer; what the answer lacks comes from what is known, else stays undefined. */
export function readPayment(answer: WireObject, known: KnownPayment, pollAfter: PollAfter): PaymentResource {
  const method = isWireObject(answer['payment_method']) ? answer['payment_method'] : {};
  const type = wireText(method['type']);
  const room = type === null ? (known.room ?? paymentRoomOf(null)) : paymentRoomOf(type);
  const payment = new room.payment(room);
  const status = String(answer['status']);
  Object.assign(payment, {
    wireType: parseEnumWord(type) ?? room.type,
    transactionId: String(answer['transaction_id']).toLowerCase(),
    channel: known.channel,
    externalId: passThrough(answer['external_id']) ?? known.externalId,
    status: readWord(PaymentStatus, PaymentStatus.UNKNOWN, status),
    rawStatus: readStatus(status),
    amount: readAmount(answer['amount']) ?? askedAmount(known),
    redirectUrl: readRedirectUrl(answer['redirect_url']),
    createDate: readTime(answer['create_date']) ?? undefined,
    error: readError(answer['error']),
    pollAfter,
  });
  readMethodFields(payment, { method, answer, sent: known.fields ?? NOTHING });
  return payment;
}

/** A page for the payer: http(s), and without credentials, which make one host look like another. */
function readRedirectUrl(value: unknown): string | undefined {
  const url = readHttpUrl(passThrough(value) ?? '', MAX_URL_OUT);
  if (url === undefined || !isPrintable(url)) return undefined;
  if (!url.includes('@')) return url;
  const { username, password } = new URL(url);
  return username === '' && password === '' && !/^[^/]*\/\/[^/?#]*@/.test(url) ? url : undefined;
}

const askedAmount = ({ amount }: KnownPayment): Amount | undefined =>
  amount && Object.assign(new Amount(), { currency: amount.currency, value: amount.value, received: null });

interface MethodSources {
  method: WireObject;
  answer: WireObject;
  sent: WireObject;
}

function readMethodFields(payment: PaymentResource, { method, answer, sent }: MethodSources): void {
  const fields: WireObject = {};
  for (const { name, find } of serviceFieldsOf(Object.getPrototypeOf(payment)))
    fields[name] = find(method, answer) ?? find(sent, NOTHING);
  Object.assign(payment, fields);
}

/** Whether an answer is one of the short ones (spec 2.3, 4.4, 4.5): it leaves out what the service knows. */
export const isPartial = (answer: WireObject): boolean =>
  !isWireObject(answer['payment_method']) ||
  answer['create_date'] === undefined ||
  answer['amount'] === undefined;

/** Fields that any payment may lack in a short answer. */
const COMMON_FIELDS = ['amount', 'redirectUrl', 'createDate', 'error'];

/**
 * Lets the fields that a short answer lacks arrive by one shared lookup, made when the first of them is selected.
 * A lookup that fails leaves them null: what was created stays created.
 */
export function lazyComplete(payment: PaymentResource, lookUp: () => Promise<PaymentResource | null>): void {
  let whole: Promise<PaymentResource | null> | undefined;
  const complete = (): Promise<PaymentResource | null> => (whole ??= lookUp().catch(() => null));
  const own = serviceFieldsOf(Object.getPrototypeOf(payment)).map(({ name }) => name);
  const lacking = [...COMMON_FIELDS, ...own].filter((name) => isLazyField(payment, name));
  for (const name of lacking) {
    Object.defineProperty(payment, name, {
      enumerable: true,
      get: () => complete().then((found): unknown => found && Reflect.get(found, name)),
    });
  }
  payment.complete = complete;
}

/** An error belongs to failed payments, a sub-state to unfinished ones: neither is looked for elsewhere. */
function isLazyField(payment: PaymentResource, name: string): boolean {
  if (Reflect.get(payment, name) !== undefined) return false;
  if (name === 'error') return payment.status === PaymentStatus.FAILED;
  if (name === 'state')
    return payment.status !== PaymentStatus.COMPLETED && payment.status !== PaymentStatus.FAILED;
  return true;
}
