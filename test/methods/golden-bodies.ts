import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export type Json = Record<string, unknown>;

/** A create: input, request to the service, its response, and the result for the caller. */
export interface GoldenCreate {
  title: string;
  input: Json & { channel: string; externalId: string; method: Json };
  body: Json;
  answer: Json;
  data: Json;
}

/** A confirm; `lookup` is the later lookup, for fields that the short response lacks. */
export interface GoldenConfirm {
  title: string;
  input: { channel: string; transactionId: string; confirmation: Json };
  body: Json;
  answer: Json;
  lookup: Json;
  data: Json;
}

export interface GoldenLookup {
  title: string;
  answer: Json;
  data: Json & { channel: string; transactionId: string };
}

export interface GoldenPayment {
  type: string;
  create: GoldenCreate[];
  confirm?: GoldenConfirm[];
  lookup: GoldenLookup[];
}

export type GoldenPayout = Omit<GoldenPayment, 'confirm'>;

/** The content of golden/<wire type>.json. */
export interface GoldenMethod {
  payment?: GoldenPayment;
  payout?: GoldenPayout;
}

const FOLDER = join(__dirname, 'golden');

/** The golden bodies by wire type, transcribed by hand from the service's specification. */
export const goldenMethods: ReadonlyMap<string, GoldenMethod> = new Map(
  readdirSync(FOLDER).map((file) => [
    file.replace(/\.json$/, ''),
    JSON.parse(readFileSync(join(FOLDER, file), 'utf8')) as GoldenMethod,
  ]),
);

/** Returns rows for test.each: a title and a case. */
export function rowsOf<C extends { title: string }>(
  casesOf: (method: GoldenMethod) => readonly C[] | undefined,
): [string, C][] {
  return [...goldenMethods].flatMap(([type, method]) =>
    (casesOf(method) ?? []).map((found): [string, C] => [`${type}, ${found.title}`, found]),
  );
}
