import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** A JSON object, of a request, an answer or of GraphQL data. */
export type Json = Record<string, unknown>;

/** One create: what a caller gives, what the service must get, what it answers, and what the caller gets back. */
export interface GoldenCreate {
  title: string;
  /** CreatePaymentInput or CreatePayoutInput. */
  input: Json & { channel: string; externalId: string; method: Json };
  body: Json;
  answer: Json;
  /** Every field of the payment or payout. */
  data: Json;
}

/** One confirm; `lookup` is what a lookup answers afterwards, for what the short answer lacks. */
export interface GoldenConfirm {
  title: string;
  input: { channel: string; transactionId: string; confirmation: Json };
  body: Json;
  answer: Json;
  lookup: Json;
  data: Json;
}

/** One answer to a lookup by transaction id. */
export interface GoldenLookup {
  title: string;
  answer: Json;
  data: Json & { channel: string; transactionId: string };
}

export interface GoldenPayment {
  /** The GraphQL type. */
  type: string;
  create: GoldenCreate[];
  confirm?: GoldenConfirm[];
  lookup: GoldenLookup[];
}

export type GoldenPayout = Omit<GoldenPayment, 'confirm'>;

/** What golden/<wire type>.json holds. */
export interface GoldenMethod {
  payment?: GoldenPayment;
  payout?: GoldenPayout;
}

const FOLDER = join(__dirname, 'golden');

/** The golden bodies of every method, by its wire type. All of them were transcribed from the service's specification by hand. */
export const goldenMethods: ReadonlyMap<string, GoldenMethod> = new Map(
  readdirSync(FOLDER).map((file) => [
    file.replace(/\.json$/, ''),
    JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as GoldenMethod,
  ]),
);

/** The cases of every method as rows for test.each: a name, then the case. */
export function rowsOf<C extends { title: string }>(
  casesOf: (method: GoldenMethod) => readonly C[] | undefined,
): [string, C][] {
  return [...goldenMethods].flatMap(([type, method]) =>
    (casesOf(method) ?? []).map((found): [string, C] => [`${type}, ${found.title}`, found]),
  );
}
