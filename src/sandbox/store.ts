import { isSettled, type Kind, type Transaction } from './transaction';

/** Values in insertion order. The kept iterator makes `oldest` fast: a new one would skip all deleted entries. */
class OldestFirst<T> {
  private readonly values = new Set<T>();
  private iterator = this.values.values();

  add(value: T): void {
    this.values.add(value);
  }

  /** Removes the oldest value. */
  shift(): T | undefined {
    let next = this.iterator.next();
    if (next.done) {
      this.iterator = this.values.values();
      next = this.iterator.next();
    }
    if (next.done) return undefined;
    this.values.delete(next.value);
    return next.value;
  }

  delete(value: T): void {
    this.values.delete(value);
  }

  clear(): void {
    this.values.clear();
    this.iterator = this.values.values();
  }
}

export interface Search {
  kind: Kind;
  channel: string;
  transactionId?: string;
  externalId?: string;
  now: number;
}

/** Transactions in memory, up to a maximum: evicts the one settled longest ago, otherwise the oldest. */
export class Store {
  private readonly byId = new Map<string, Transaction>();
  private readonly byExternalId = new Map<string, Transaction[]>();
  private readonly open = new OldestFirst<Transaction>();
  private readonly settled = new OldestFirst<Transaction>();

  constructor(private readonly maxTransactions: number) {}

  get size(): number {
    return this.byId.size;
  }

  add(transaction: Transaction): void {
    if (this.byId.size >= this.maxTransactions) this.evict();
    this.byId.set(transaction.id, transaction);
    this.open.add(transaction);
    const key = externalKey(transaction);
    if (key === undefined) return;
    const sharing = this.byExternalId.get(key);
    if (sharing) sharing.push(transaction);
    else this.byExternalId.set(key, [transaction]);
  }

  /** Called when a transaction has reached a final state. */
  markSettled(transaction: Transaction): void {
    if (!this.byId.has(transaction.id) || !isSettled(transaction)) return;
    this.open.delete(transaction);
    this.settled.add(transaction);
  }

  get(id: string): Transaction | undefined {
    return this.byId.get(id.toLowerCase());
  }

  /** If both ids are given both must match; of several with one external id, the newest. */
  find(search: Search): Transaction | undefined {
    const { transactionId } = search;
    const candidates =
      transactionId === undefined
        ? (this.byExternalId.get(externalKey(search) ?? '') ?? [])
        : [this.get(transactionId)];
    return candidates.findLast((found) => found !== undefined && matches(found, search));
  }

  /** Newest first, starting after the transaction `before`. */
  list(limit: number, before?: string): Transaction[] {
    const all = [...this.byId.values()].reverse();
    const start = before === undefined ? 0 : all.findIndex(({ id }) => id === before.toLowerCase()) + 1;
    return before !== undefined && start === 0 ? [] : all.slice(start, start + limit);
  }

  clear(): void {
    for (const { timer } of this.byId.values()) timer?.cancel();
    this.byId.clear();
    this.byExternalId.clear();
    this.open.clear();
    this.settled.clear();
  }

  private evict(): void {
    const transaction = this.settled.shift() ?? this.open.shift();
    if (!transaction) return;
    transaction.timer?.cancel();
    this.byId.delete(transaction.id);
    const key = externalKey(transaction) ?? '';
    const others = this.byExternalId.get(key)?.filter((each) => each !== transaction);
    if (others && others.length > 0) this.byExternalId.set(key, others);
    else this.byExternalId.delete(key);
  }
}

function matches(found: Transaction, search: Search): boolean {
  return (
    found.kind === search.kind &&
    found.channel.toLowerCase() === search.channel.toLowerCase() &&
    (search.externalId === undefined || found.externalId === search.externalId) &&
    (found.hiddenUntil === undefined || found.hiddenUntil <= search.now)
  );
}

/** Unambiguous, because a UUID contains no space. */
function externalKey(of: Pick<Transaction, 'kind' | 'channel' | 'externalId'>): string | undefined {
  return of.externalId === undefined ? undefined : `${of.kind} ${of.channel.toLowerCase()} ${of.externalId}`;
}
