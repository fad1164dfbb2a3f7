import assert from 'node:assert/strict';
import { isWireObject, type WireObject } from './service';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const CREATE_DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}[+-]\d\d:\d\d$/;
const SCALE = 8;

/** Statuses of a payment (spec 3.1). */
export const PAYMENT_STATUSES = ['pending', 'processing', 'completed', 'failed', 'mispaid'];
/** Statuses of a payout (spec 3.2). */
export const PAYOUT_STATUSES = ['pending', 'processing', 'completed', 'failed'];

export function objectIn(parent: WireObject, field: string): WireObject {
  const value = parent[field];
  assert(isWireObject(value), `${field} is not an object: ${JSON.stringify(value)}`);
  return value;
}

/** Returns the value of the field, which must be a non-empty string. */
export function textIn(parent: WireObject, field: string): string {
  const value = parent[field];
  assert(
    typeof value === 'string' && value !== '',
    `${field} is not a non-empty string: ${JSON.stringify(value)}`,
  );
  return value;
}

export function expectAbsent(parent: WireObject, ...fields: string[]): void {
  for (const field of fields) assert(!(field in parent), `${field} is present, but must be absent`);
}

export function uuidIn(parent: WireObject, field: string): string {
  const value = textIn(parent, field);
  assert.match(value, UUID, `${field} is not a UUID`);
  return value;
}

export function statusIn(parent: WireObject, statuses: readonly string[]): string {
  const value = textIn(parent, 'status');
  assert(statuses.includes(value), `status ${value} is none of ${statuses.join(', ')}`);
  return value;
}

/** Returns create_date, which must be ISO 8601 with microseconds and a UTC offset (spec 2.1). */
export function createDateIn(parent: WireObject): string {
  const value = textIn(parent, 'create_date');
  assert.match(value, CREATE_DATE, 'create_date has no microseconds or no UTC offset');
  assert(!Number.isNaN(Date.parse(value)), `create_date is not a valid time: ${value}`);
  return value;
}

/** Returns a decimal string as an integer with eight decimals, to compare amounts without floats. */
export function decimalIn(parent: WireObject, field: string): bigint {
  const value = textIn(parent, field);
  const match = /^(\d+)(?:\.(\d{1,8}))?$/.exec(value);
  assert(match, `${field} is not a decimal number as a string: ${value}`);
  return BigInt((match[1] ?? '') + (match[2] ?? '').padEnd(SCALE, '0'));
}

export function expectAmount(resource: WireObject, request: WireObject): void {
  const given = objectIn(request, 'amount');
  const responded = objectIn(resource, 'amount');
  assert.equal(responded.currency, given.currency, 'amount.currency');
  assert.equal(decimalIn(responded, 'value'), decimalIn(given, 'value'), 'amount.value');
}

/** Expects the fields of a full payment resource (spec 2.3), except those of the method. */
export function expectFullPayment(payment: WireObject, request: WireObject): void {
  const { channel, payment_method } = request;
  expect(payment).toMatchObject({ channel, payment_method: { type: (payment_method as WireObject).type } });
  statusIn(payment, PAYMENT_STATUSES);
  uuidIn(payment, 'transaction_id');
  expectAmount(payment, request);
  createDateIn(payment);
}
