import { createHash } from 'node:crypto';
import type { SandboxPaymentMethod, WireState } from '../schema/methods/sandbox-behaviour';
import type { WireObject } from '../shared/wire-object';
import type { Timer } from '../shared/clock';
import type { SimulatedOutcome, TransactionFailure } from './simulated-outcome';

type PayoutStatus = 'pending' | 'processing' | 'completed' | 'failed';
export type PaymentStatus = PayoutStatus | 'mispaid';

interface CommonTransactionFields {
  id: string;
  /** Channel id, in upper or lower case as the client sent it. */
  channel: string;
  externalId?: string;
  /** `received`: the amount that the payer paid; absent unless the payment is mispaid. */
  amount: { currency: string; value: string; received?: string };
  /** `payment_method.type` or `payout_method.type`. */
  type: string;
  /** The method's fields, with a masked card number and without the security code. */
  methodFields: WireObject;
  callbackUrl?: string;
  /** Time of the create, formatted by microsecondDate(). */
  createDate: string;
  simulatedOutcome: SimulatedOutcome;
  /** Time in ms since 1970 before which lookups and confirms do not find the transaction. */
  hiddenUntilMs?: number;
  error?: TransactionFailure;
  /** Timer that sets the final status; absent if no final status was scheduled. */
  outcomeTimer?: Timer;
}

export interface Payment extends CommonTransactionFields {
  kind: 'payment';
  status: PaymentStatus;
  method: SandboxPaymentMethod;
  flow: 'redirect' | 'direct';
  state?: WireState;
  /** URL of the hosted page. */
  redirectUrl: string;
  returnUrl?: string;
  /** Fields of `payment_method` that the sandbox adds in responses, beside the fields of the create request. */
  addedFields: WireObject;
}

export interface Payout extends CommonTransactionFields {
  kind: 'payout';
  status: PayoutStatus;
}

export type Transaction = Payment | Payout;
export type TransactionKind = Transaction['kind'];

export const hasFinalStatus = ({ status }: Transaction): boolean =>
  status !== 'pending' && status !== 'processing';

export const isHidden = ({ hiddenUntilMs }: Transaction, nowMs: number): boolean =>
  hiddenUntilMs !== undefined && hiddenUntilMs > nowMs;

export const awaitsConfirm = ({ state }: Payment): boolean =>
  state !== undefined && state !== 'waiting_for_provider';

/** Converts a transaction to the argument of a method's functions, such as `addedFields` and `lookupOnlyFields`. */
export function toMethodFunctionArgument({ id, methodFields, amount }: Transaction) {
  return { id, methodFields, amount, pseudoRandomDigits: pseudoRandomDigits.bind(null, id) };
}

/** Returns `count` pseudo-random decimal digits, always the same for the same id and label. */
function pseudoRandomDigits(transactionId: string, count: number, label: string): string {
  let digits = '';
  for (let round = 0; digits.length < count; round += 1) {
    const hashBytes = createHash('sha256').update(`${transactionId} ${label} ${round}`).digest();
    digits += Array.from(hashBytes, (byte) => byte % 10).join('');
  }
  return digits.slice(0, count);
}

/** Formats `timeMs` (since 1970) as ISO 8601 (spec 2.1). The last three decimals are `microseconds` modulo 1000. */
export function microsecondDate(timeMs: number, microseconds: number): string {
  const digits = String(microseconds % 1000).padStart(3, '0');
  return new Date(timeMs).toISOString().replace('Z', `${digits}+00:00`);
}
