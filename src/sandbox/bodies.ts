import type { WireObject } from '../shared/wire-object';
import { methodView, type Payment, type Payout } from './transaction';
import { pick } from './wire-object';

/** Returns the URL of the hosted page of a payment. */
export const redirectUrl = (baseUrl: string, payment: Payment): string => `${baseUrl}pay/${payment.id}`;

const methodType = ({ outcome, type }: Payment): string => outcome.typeOverride ?? type;

interface PaymentBodyOptions {
  baseUrl: string;
  isLookup: boolean;
}

/** Returns the full payment, as in responses to creates and lookups (spec 2.3). */
export function paymentBody(payment: Payment, { baseUrl, isLookup }: PaymentBodyOptions): WireObject {
  const { method, request, added, state } = payment;
  const account = method.topLevelAccount && payment.flow === 'direct' ? added['account'] : undefined;
  return {
    status: payment.outcome.statusOverride ?? payment.status,
    transaction_id: payment.id,
    amount: payment.amount,
    redirect_url: redirectUrl(baseUrl, payment),
    channel: payment.channel,
    payment_method: {
      type: methodType(payment),
      ...pick(request, method.echo),
      ...added,
      ...(isLookup && method.onLookup?.(methodView(payment))),
      ...(state && { state }),
    },
    create_date: payment.createDate,
    ...(account !== undefined && { account }),
    ...(payment.error && { error: payment.error }),
  };
}

/** Returns the response to a confirm: one of two short forms, never the full payment (spec 4.5). */
export function confirmBody(payment: Payment, baseUrl: string): WireObject {
  const { status, id, state, request } = payment;
  if (status === 'completed') {
    return {
      status,
      transaction_id: id,
      amount: payment.amount,
      redirect_url: redirectUrl(baseUrl, payment),
      create_date: payment.createDate,
    };
  }
  const { confirmField, echo } = payment.method;
  // In the specification, only the examples of upi and dcb repeat the payer's fields.
  const repeated = confirmField === 'utr' || confirmField === 'code' ? pick(request, echo) : {};
  return { status, transaction_id: id, payment_method: { type: methodType(payment), ...repeated, state } };
}

/** Returns the response to a payout create. Its `external_id` is always null (spec 4.2). */
export function payoutCreatedBody(payout: Payout): WireObject {
  return {
    status: payout.outcome.statusOverride ?? payout.status,
    transaction_id: payout.id,
    external_id: null,
  };
}

/** Returns the response to a payout lookup (spec 4.1). */
export function payoutBody(payout: Payout): WireObject {
  const { typeOverride, statusOverride } = payout.outcome;
  const method = typeOverride ?? (payout.status === 'failed' ? payout.type : undefined);
  return {
    status: statusOverride ?? payout.status,
    transaction_id: payout.id,
    ...(method && { method }),
    external_id: payout.externalId ?? null,
    ...(payout.error && { error: payout.error }),
  };
}
