import { randomUUID } from 'node:crypto';

export type Kind = 'payment' | 'payout';

/** A transaction of the service: the truth for comparisons with the gateway's journal. */
export interface Entry {
  kind: Kind;
  transactionId: string;
  channel: string;
  externalId: string;
  amount: { currency: string; value: string };
  method: Record<string, unknown>;
  /** The description; tests put the idempotency key here. */
  description: string;
  status: string;
  state: string | null;
  /** Time at which the request arrived. */
  requestedAt: number;
  createdAt: number;
  /** Time before which lookups do not find the transaction. */
  visibleAt: number;
  /** Number of lookups that still do not find the transaction. */
  hiddenLookups: number;
  confirms: number;
  /** The confirms that were carried out. */
  confirmations: { body: Record<string, unknown>; requestedAt: number; carriedOutAt: number }[];
}

const STATES: Record<string, string> = {
  upi: 'waiting_for_utr',
  dcb: 'waiting_for_code',
  bkash: 'waiting_for_code',
  nagad: 'waiting_for_code',
  rocket: 'waiting_for_code',
  c2c: 'waiting_for_confirm',
};

/** All transactions of the service. External ids are not unique, and there are no idempotency keys. */
export class Ledger {
  readonly entries: Entry[] = [];
  readonly #byId = new Map<string, Entry>();
  readonly #byExternalId = new Map<string, Entry[]>();
  /** For how long, and for how many lookups, new transactions are not found. */
  lag = { ms: 0, lookups: 0 };
  /** Which of several transactions with one external id a lookup returns; the specification does not say. */
  shows: 'newest' | 'oldest' = 'newest';
  /** Whether a repeated confirm of a payment is carried out again; the specification does not say. */
  acceptsRepeats = false;

  /** @param newId returns the id of a new transaction */
  constructor(private readonly newId: () => string = randomUUID) {}

  create(kind: Kind, body: Record<string, unknown>, now: number, requestedAt = now): Entry {
    const method = { ...Object(body[`${kind}_method`]) } as Record<string, unknown>;
    const direct = Object.keys(method).length > 1;
    const state = (kind === 'payment' && direct && STATES[String(method['type'])]) || null;
    const entry: Entry = {
      kind,
      transactionId: this.newId(),
      channel: String(body['channel']),
      externalId: String(body['external_id']),
      amount: { ...Object(body['amount']) } as Entry['amount'],
      method,
      description: String(body['description'] ?? ''),
      status: direct || kind === 'payout' ? 'processing' : 'pending',
      state,
      requestedAt,
      createdAt: now,
      visibleAt: now + this.lag.ms,
      hiddenLookups: this.lag.lookups,
      confirms: 0,
      confirmations: [],
    };
    this.entries.push(entry);
    this.#byId.set(entry.transactionId, entry);
    const others = this.#byExternalId.get(entry.externalId) ?? [];
    this.#byExternalId.set(entry.externalId, [...others, entry]);
    return entry;
  }

  byId(kind: Kind, transactionId: string): Entry | undefined {
    const entry = this.#byId.get(transactionId);
    return entry?.kind === kind ? entry : undefined;
  }

  find(kind: Kind, query: URLSearchParams, now: number): Entry | undefined {
    const [channel, id, externalId] = ['channel', 'transaction_id', 'external_id'].map((name) =>
      query.get(name),
    );
    const byId = this.#byId.get(id ?? '');
    const named = externalId ? (this.#byExternalId.get(externalId) ?? []) : byId ? [byId] : [];
    const hits = named.filter(
      (entry) =>
        entry.kind === kind &&
        entry.channel === channel &&
        (!id || entry.transactionId === id) &&
        entry.visibleAt <= now &&
        (entry.hiddenLookups -= 1) < 0,
    );
    return this.shows === 'newest' ? hits.at(-1) : hits[0];
  }

  confirm(body: Record<string, unknown>, now = 0, requestedAt = now): Entry | undefined {
    const entry = this.byId('payment', String(body['id']));
    if (!entry?.state?.startsWith('waiting_for')) return undefined;
    if (entry.state === 'waiting_for_provider' && !this.acceptsRepeats) return undefined;
    entry.confirms += 1;
    entry.confirmations.push({ body, requestedAt, carriedOutAt: now });
    entry.state = 'waiting_for_provider';
    return entry;
  }
}

/** Returns a time with microseconds and an offset (spec 2.1). */
const timestamp = (ms: number): string => new Date(ms).toISOString().replace('Z', '123+00:00');

/** Returns the resource as the service sends it (spec 2.3, 2.6). */
export function resource(entry: Entry, isLookup: boolean): Record<string, unknown> {
  const { status, transactionId, amount, channel, method, state, createdAt, externalId } = entry;
  if (entry.kind === 'payout') {
    return { status, transaction_id: transactionId, external_id: isLookup ? externalId : null };
  }
  return {
    status,
    transaction_id: transactionId,
    amount,
    redirect_url: `https://pay.example.com/${transactionId}`,
    channel,
    payment_method: { ...method, pan: undefined, cvc: undefined, ...(state && { state }) },
    create_date: timestamp(createdAt),
  };
}
