import type { WireObject } from '../shared/wire-object';
import { methodView, type Payment, type Payout } from './transaction';
import { picked } from './wire-object';

/** The hosted page of a payment. */
export const redirectUrl = (baseUrl: string, payment: Payment): string => `${baseUrl}pay/${payment.id}`;

const methodType = ({ outcome, type }: Payment): string => outcome.typeWord ?? type;

interface ResponseOptions {
  baseUrl: string;
  lookup: boolean;
}

/** Spec 2.3. */
export function paymentBody(payment: Payment, { baseUrl, lookup }: ResponseOptions): WireObject {
  const { method, request, added, state } = payment;
  const account = method.topLevelAccount && payment.flow === 'direct' ? added['account'] : undefined;
  return {
    status: payment.outcome.statusWord ?? payment.status,
    transaction_id: payment.id,
    amount: payment.amount,
    redirect_url: redirectUrl(baseUrl, payment),
    channel: payment.channel,
    payment_method: {
      type: methodType(payment),
      ...picked(request, method.echo),
      ...added,
      ...(lookup && method.onLookup?.(methodView(payment))),
      ...(state && { state }),
    },
    create_date: payment.createDate,
    ...(account !== undefined && { account }),
    ...(payment.error && { error: payment.error }),
  };
}

/** Spec 4.5: two short forms, neither of which is the full resource. */
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
  // The examples of upi and dcb repeat the payer's fields, those of the other methods do not.
  const repeated = confirmField === 'utr' || confirmField === 'code' ? picked(request, echo) : {};
  return { status, transaction_id: id, payment_method: { type: methodType(payment), ...repeated, state } };
}

/** Spec 4.2: the response to a create does not contain the external id. */
export function payoutCreatedBody(payout: Payout): WireObject {
  return { status: payout.outcome.statusWord ?? payout.status, transaction_id: payout.id, external_id: null };
}

/** Spec 4.1. */
export function payoutBody(payout: Payout): WireObject {
  const { typeWord, statusWord } = payout.outcome;
  const method = typeWord ?? (payout.status === 'failed' ? payout.type : undefined);
  return {
    status: statusWord ?? payout.status,
    transaction_id: payout.id,
    ...(method && { method }),
    external_id: payout.externalId ?? null,
    ...(payout.error && { error: payout.error }),
  };
}
