import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { getNamedType, isAbstractType, isObjectType, type GraphQLNamedType } from 'graphql';
import { CHANNEL } from '../support/caller';
import { schema } from './selection';

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

/** What golden/<wire type>.json leaves out, because it is the same in every case. */
const IDS = {
  payment: {
    id: 'AQB8G9HgaxtMip1-D1pKPCsQPwxaUo8OT1udCm8vfx-aAQ',
    transactionId: '3f0c5a52-8f0e-4f5b-9d0a-6f2f7f1f9a01',
  },
  payout: {
    id: 'AQF8G9HgaxtMip1-D1pKPCsQsangxFLXTDaKHwydLntvAg',
    transactionId: 'b1a9e0c4-52d7-4c36-8a1f-0c9d2e7b6f02',
  },
};
const CREATED_AT = '2024-05-31T09:12:45.123456+00:00';

/** Methods with the same golden bodies as another method, except for the name. */
const SAME_BODIES: Readonly<Record<string, string>> = {
  easy_paisa: 'jazz_cash',
  nagad: 'bkash',
  rocket: 'bkash',
};

/** Adds null for every field of the type that a result, or an object in it, leaves out. */
function withNulls(type: GraphQLNamedType | undefined, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const given = value as Json;
  const member = isAbstractType(type) ? schema.getType(String(given['__typename'])) : type;
  if (!isObjectType(member)) return value;
  const fields = Object.values(member.getFields()).map(({ name, type: of }): [string, unknown] => [
    name,
    withNulls(getNamedType(of), given[name] ?? null),
  ]);
  return { ...given, ...Object.fromEntries(fields) };
}

type Kind = keyof typeof IDS;
type GoldenCase = Pick<GoldenCreate, 'answer' | 'data'> & { input?: Json; lookup?: Json };

/** Completes a case of a golden file. */
function complete<C extends GoldenCase>(kind: Kind, type: string, golden: C): C {
  const { id, transactionId } = IDS[kind];
  const { input, answer, lookup, data } = golden;
  const ids = { transaction_id: transactionId };
  const whole = kind === 'payment' ? { ...ids, channel: CHANNEL, create_date: CREATED_AT } : ids;
  const own = lookup ? { transactionId } : { idempotencyKey: `key of ${String(input?.['externalId'])}` };
  const result = {
    ...{ __typename: type, id, transactionId, channel: CHANNEL },
    ...(kind === 'payment' && { createDate: CREATED_AT }),
    ...data,
  };
  return {
    ...golden,
    ...(input && { input: { channel: CHANNEL, ...own, ...input } }),
    // The response to a confirm may have no channel and date (spec 4.5).
    answer: { ...(lookup ? ids : whole), ...answer },
    ...(lookup && { lookup: { ...whole, ...lookup } }),
    data: withNulls(schema.getType(type), result),
  };
}

const completeSide = <P extends GoldenPayment>(kind: Kind, side: P): P => ({
  ...side,
  create: side.create.map((one) => complete(kind, side.type, one)),
  ...(side.confirm && { confirm: side.confirm.map((one) => complete(kind, side.type, one)) }),
  lookup: side.lookup.map((one) => complete(kind, side.type, one)),
});

/** Returns a wire type as it is written in requests, inputs, type names and enums. */
function spellingsOf(type: string): string[] {
  const field = type.replace(/_./g, (pair) => pair.charAt(1).toUpperCase());
  return [type, field, field.charAt(0).toUpperCase() + field.slice(1), type.toUpperCase()];
}

function readGolden(type: string): GoldenMethod {
  const source = SAME_BODIES[type] ?? type;
  const names = spellingsOf(type);
  const text = spellingsOf(source).reduce(
    (soFar, name, nth) => soFar.replaceAll(name, names[nth] ?? ''),
    readFileSync(join(FOLDER, `${source}.json`), 'utf8'),
  );
  const { payment, payout } = JSON.parse(text) as GoldenMethod;
  return {
    ...(payment && { payment: completeSide('payment', payment) }),
    ...(payout && { payout: completeSide('payout', payout) }),
  };
}

const types = [
  ...readdirSync(FOLDER).map((file) => file.replace(/\.json$/, '')),
  ...Object.keys(SAME_BODIES),
];

/** The golden bodies by wire type, transcribed by hand from the service's specification. */
export const goldenMethods: ReadonlyMap<string, GoldenMethod> = new Map(
  types.sort().map((type) => [type, readGolden(type)]),
);

/** Returns rows for test.each: a title and a case. */
export function rowsOf<C extends { title: string }>(
  casesOf: (method: GoldenMethod) => readonly C[] | undefined,
): [string, C][] {
  return [...goldenMethods].flatMap(([type, method]) =>
    (casesOf(method) ?? []).map((found): [string, C] => [`${type}, ${found.title}`, found]),
  );
}
