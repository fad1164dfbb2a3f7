import type { WireObject } from '../shared/wire-object';
import type { Payment, Payout } from './transaction';

/**
 * Builds a response with the full payment (spec 2.3). `lookupOnlyFields`: the fields that `payment_method` has only in
 * responses to lookups.
 */
export function paymentBody(payment: Payment, lookupOnlyFields: WireObject = {}): WireObject {
  const { method, methodFields, addedFields, state } = payment;
  const account = method.hasTopLevelAccount && payment.flow === 'direct' ? addedFields['account'] : undefined;
  return {
    status: payment.simulatedOutcome.reportedStatus ?? payment.status,
    transaction_id: payment.id,
    amount: payment.amount,
    redirect_url: payment.redirectUrl,
    channel: payment.channel,
    payment_method: {
      type: methodTypeOf(payment),
      ...pick(methodFields, method.echoedFields),
      ...addedFields,
      ...lookupOnlyFields,
      ...(state && { state }),
    },
    create_date: payment.createDate,
    ...(account !== undefined && { account }),
    ...(payment.error && { error: payment.error }),
  };
}

/** Builds the response to a confirm: one of two short forms, never the full payment (spec 4.5). */
export function confirmResponseBody(payment: Payment): WireObject {
  const { status, id, state, methodFields, amount, redirectUrl, createDate } = payment;
  if (status === 'completed')
    return { status, transaction_id: id, amount, redirect_url: redirectUrl, create_date: createDate };
  const { confirmField, echoedFields } = payment.method;
  // As in the examples of the specification, only upi (`utr`) and dcb (`code`) repeat the payer's fields.
  const echoedPayerFields =
    confirmField === 'utr' || confirmField === 'code' ? pick(methodFields, echoedFields) : {};
  return {
    status,
    transaction_id: id,
    payment_method: { type: methodTypeOf(payment), ...echoedPayerFields, state },
  };
}

/** Builds the response to a payout create. Its `external_id` is always null (spec 4.2). */
export const payoutCreatedBody = ({ status, id, simulatedOutcome }: Payout): WireObject => ({
  status: simulatedOutcome.reportedStatus ?? status,
  transaction_id: id,
  external_id: null,
});

/** Builds a payout lookup's response (spec 4.1). Has `method` only if the payout failed or has `reportedMethodType`. */
export function payoutLookupBody(payout: Payout): WireObject {
  const { reportedMethodType, reportedStatus } = payout.simulatedOutcome;
  const methodType = reportedMethodType ?? (payout.status === 'failed' ? payout.type : undefined);
  return {
    status: reportedStatus ?? payout.status,
    transaction_id: payout.id,
    ...(methodType && { method: methodType }),
    external_id: payout.externalId ?? null,
    ...(payout.error && { error: payout.error }),
  };
}

const methodTypeOf = ({ simulatedOutcome, type }: Payment): string =>
  simulatedOutcome.reportedMethodType ?? type;

function pick(fields: WireObject, fieldNames: readonly string[]): WireObject {
  const presentFieldNames = fieldNames.filter((fieldName) => Object.hasOwn(fields, fieldName));
  return Object.fromEntries(presentFieldNames.map((fieldName) => [fieldName, fields[fieldName]]));
}
