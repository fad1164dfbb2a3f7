import type { Reply } from '../support/payment-service/fake-payment-service';
import type { MethodHarness } from './harness';
import { rowsOf, type GoldenConfirm, type GoldenCreate, type Json } from './golden-bodies';
import { confirmPayment, createPayment } from './selection';

/** Creates and confirms with short responses, and the lookups that follow. */

export const creates = rowsOf(({ payment }) => payment?.create);
export const confirms = rowsOf(({ payment }) => payment?.confirm);

export function named<C>(rows: [string, C][], name: string): C {
  const [, found] = rows.find(([row]) => row === name) ?? [];
  if (!found) throw new Error(`There is no golden case "${name}".`);
  return found;
}

/** The shortest response to a create (spec 4.4). */
export const shortestResponse = ({ status, transaction_id }: Json): Json => ({ status, transaction_id });

interface Success {
  __typename: string;
  payment: Json;
}

interface Responses {
  post: Json;
  get?: Reply;
}

async function call(
  harness: MethodHarness,
  document: string,
  { input, post, get }: Responses & { input: Json },
): Promise<Json> {
  harness.respond({ post: { status: 200, json: post }, get });
  const { data, errors } = await harness.gateway.request<Record<string, Success>>(document, { input });
  expect(errors).toBeUndefined();
  const [result] = Object.values(data);
  expect(result?.__typename).toBe('PaymentSuccess');
  return result?.payment ?? {};
}

/** Creates the payment of a golden case and returns the selected fields; expects success. */
export const create = (
  harness: MethodHarness,
  { input }: GoldenCreate,
  { selection, ...responses }: Responses & { selection?: string },
): Promise<Json> => call(harness, createPayment(selection), { input, ...responses });

export const confirm = (
  harness: MethodHarness,
  { input }: GoldenConfirm,
  { selection, ...responses }: Responses & { selection: string },
): Promise<Json> => call(harness, confirmPayment(selection), { input, ...responses });

export const lookups = (harness: MethodHarness): string[] =>
  harness.sent('GET').map(({ path, query }) => `${path}?${query}`);

export const GOLDEN_LOOKUP =
  '/api/v1/payment/?channel=7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10&transaction_id=3f0c5a52-8f0e-4f5b-9d0a-6f2f7f1f9a01';
