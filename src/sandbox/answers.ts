import type { WireObject } from '../schema/methods/sandbox-behaviour';
import { methodView, type Payment, type Payout } from './transaction';
import { picked } from './wire-object';

/** The hosted page of a payment, whose address begins with the sandbox's own. */
export function redirectUrl(baseUrl: string, payment: Payment): string {
  return `${baseUrl}pay/${payment.id}`;
}

function shownType(payment: Payment): string {
  return payment.outcome.typeWord ?? payment.type;
}

function paymentMethod(payment: Payment, lookup: boolean): WireObject {
  return {
    type: shownType(payment),
    ...picked(payment.request, payment.method.echo),
    ...payment.added,
    ...(lookup ? payment.method.onLookup?.(methodView(payment)) : {}),
    ...(payment.state ? { state: payment.state } : {}),
  };
}

export interface FullAnswer {
  baseUrl: string;
  lookup: boolean;
}

/** Spec 2.3. */
export function paymentAnswer(payment: Payment, { baseUrl, lookup }: FullAnswer): WireObject {
  const account =
    payment.method.topLevelAccount && payment.flow === 'direct' ? payment.added['account'] : undefined;
  return {
    status: payment.outcome.statusWord ?? payment.status,
    transaction_id: payment.id,
    amount: payment.amount,
    redirect_url: redirectUrl(baseUrl, payment),
    channel: payment.channel,
    payment_method: paymentMethod(payment, lookup),
    create_date: payment.createDate,
    ...(account === undefined ? {} : { account }),
    ...(payment.error ? { error: payment.error } : {}),
  };
}

/** Spec 4.5: two short forms, of which neither is the full resource. */
export function confirmAnswer(payment: Payment, baseUrl: string): WireObject {
  if (payment.status === 'completed') {
    return {
      status: payment.status,
      transaction_id: payment.id,
      amount: payment.amount,
      redirect_url: redirectUrl(baseUrl, payment),
      create_date: payment.createDate,
    };
  }
  const { confirmField, echo } = payment.method;
  // The upi and dcb examples repeat the payer's fields, those of the other methods do not.
  const repeated = confirmField === 'utr' || confirmField === 'code' ? picked(payment.request, echo) : {};
  return {
    status: payment.status,
    transaction_id: payment.id,
    payment_method: { type: shownType(payment), ...repeated, state: payment.state },
  };
}

/** Spec 4.2: the create answer does not repeat the external id. */
export function payoutCreated(payout: Payout): WireObject {
  return { status: payout.outcome.statusWord ?? payout.status, transaction_id: payout.id, external_id: null };
}

/** Spec 4.1. */
export function payoutAnswer(payout: Payout): WireObject {
  const { typeWord, statusWord } = payout.outcome;
  const method = typeWord ?? (payout.status === 'failed' ? payout.type : undefined);
  return {
    status: statusWord ?? payout.status,
    transaction_id: payout.id,
    ...(method ? { method } : {}),
    external_id: payout.externalId ?? null,
    ...(payout.error ? { error: payout.error } : {}),
  };
}
