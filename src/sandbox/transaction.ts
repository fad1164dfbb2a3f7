import { createHash } from 'node:crypto';
import type {
  SandboxPaymentMethod,
  SandboxTransaction,
  WireState,
} from '../schema/methods/sandbox-behaviour';
import type { WireObject } from '../shared/wire-object';
import type { Timer } from '../shared/clock';
import type { Outcome, TransactionError } from './final-states';

export type PaymentStatus = 'pending' | 'processing' | 'completed' | 'failed' | 'mispaid';
export type PayoutStatus = 'pending' | 'processing' | 'completed' | 'failed';

export interface Amount {
  currency: string;
  value: string;
  received?: string;
}

interface Common {
  id: string;
  /** As sent by the client. */
  channel: string;
  externalId?: string;
  amount: Amount;
  /** `payment_method.type` or `payout_method.type`. */
  type: string;
  /** The method's fields, with card data masked or removed. */
  request: WireObject;
  callbackUrl?: string;
  createDate: string;
  outcome: Outcome;
  /** Lookups do not find it before. */
  hiddenUntil?: number;
  error?: TransactionError;
  timer?: Timer;
}

export interface Payment extends Common {
  kind: 'payment';
  status: PaymentStatus;
  method: SandboxPaymentMethod;
  flow: 'redirect' | 'direct';
  state?: WireState;
  returnUrl?: string;
  /** Fields of `payment_method` that the service added. */
  added: WireObject;
}

export interface Payout extends Common {
  kind: 'payout';
  status: PayoutStatus;
}

export type Transaction = Payment | Payout;
export type Kind = Transaction['kind'];

export const isSettled = ({ status }: Transaction): boolean =>
  status !== 'pending' && status !== 'processing';

/** The transaction for the functions of a method's sandbox behaviour. */
export function methodView(transaction: Pick<Common, 'id' | 'request' | 'amount'>): SandboxTransaction {
  const { id, request, amount } = transaction;
  return { id, request, amount, digits: (count, label) => digitsOf(id, count, label) };
}

function digitsOf(id: string, count: number, label: string): string {
  let digits = '';
  for (let round = 0; digits.length < count; round += 1) {
    const hash = createHash('sha256').update(`${id} ${label} ${round}`).digest();
    digits += Array.from(hash, (byte) => byte % 10).join('');
  }
  return digits.slice(0, count);
}

/** ISO 8601 with microseconds and offset (spec 2.1). */
export function microsecondDate(ms: number, micros: number): string {
  const digits = String(micros % 1000).padStart(3, '0');
  return new Date(ms).toISOString().replace('Z', `${digits}+00:00`);
}
