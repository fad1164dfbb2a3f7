import { isSettled, type TransactionKind, type Transaction } from './transaction';

/** A set in insertion order. It keeps one iterator, because a new one would first have to skip all deleted entries. */
class FifoSet<T> {
  private readonly values = new Set<T>();
  private iterator = this.values.values();

  add(value: T): void {
    this.values.add(value);
  }

  /** Removes and returns the oldest value; undefined if the set is empty. */
  takeOldest(): T | undefined {
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

export interface TransactionSearch {
  kind: TransactionKind;
  channel: string;
  transactionId?: string;
  externalId?: string;
  /** Current time; a transaction that is hidden at this time is not found. */
  now: number;
}

/** Keeps transactions in memory. At the maximum, evicts the one settled first, or the oldest if none is settled. */
export class Store {
  private readonly byId = new Map<string, Transaction>();
  private readonly byExternalId = new Map<string, Transaction[]>();
  private readonly open = new FifoSet<Transaction>();
  private readonly settled = new FifoSet<Transaction>();

  constructor(private readonly maxTransactions: number) {}

  get size(): number {
    return this.byId.size;
  }

  add(transaction: Transaction): void {
    if (this.byId.size >= this.maxTransactions) this.evict();
    this.byId.set(transaction.id, transaction);
    this.open.add(transaction);
    const key = externalIdKey(transaction);
    if (key === undefined) return;
    const sharing = this.byExternalId.get(key);
    if (sharing) sharing.push(transaction);
    else this.byExternalId.set(key, [transaction]);
  }

  /** Records that a transaction has reached a final state, so that it may be evicted before open ones. */
  markSettled(transaction: Transaction): void {
    if (!this.byId.has(transaction.id) || !isSettled(transaction)) return;
    this.open.delete(transaction);
    this.settled.add(transaction);
  }

  get(id: string): Transaction | undefined {
    return this.byId.get(id.toLowerCase());
  }

  /** Returns the newest transaction that matches all given ids. */
  find(search: TransactionSearch): Transaction | undefined {
    const { transactionId } = search;
    const candidates =
      transactionId === undefined
        ? (this.byExternalId.get(externalIdKey(search) ?? '') ?? [])
        : [this.get(transactionId)];
    return candidates.findLast((found) => found !== undefined && matches(found, search));
  }

  /** Returns transactions, newest first; only those created before the transaction `beforeId`, if it is given. */
  list(limit: number, beforeId?: string): Transaction[] {
    const all = [...this.byId.values()].reverse();
    const start = beforeId === undefined ? 0 : all.findIndex(({ id }) => id === beforeId.toLowerCase()) + 1;
    return beforeId !== undefined && start === 0 ? [] : all.slice(start, start + limit);
  }

  clear(): void {
    for (const { timer } of this.byId.values()) timer?.cancel();
    this.byId.clear();
    this.byExternalId.clear();
    this.open.clear();
    this.settled.clear();
  }

  private evict(): void {
    const transaction = this.settled.takeOldest() ?? this.open.takeOldest();
    if (!transaction) return;
    transaction.timer?.cancel();
    this.byId.delete(transaction.id);
    const key = externalIdKey(transaction) ?? '';
    const others = this.byExternalId.get(key)?.filter((each) => each !== transaction);
    if (others && others.length > 0) this.byExternalId.set(key, others);
    else this.byExternalId.delete(key);
  }
}

function matches(found: Transaction, search: TransactionSearch): boolean {
  return (
    found.kind === search.kind &&
    found.channel.toLowerCase() === search.channel.toLowerCase() &&
    (search.externalId === undefined || found.externalId === search.externalId) &&
    (found.hiddenUntil === undefined || found.hiddenUntil <= search.now)
  );
}

/** Returns a key of an external id within kind and channel. It is unambiguous, because a UUID contains no space. */
function externalIdKey(of: Pick<Transaction, 'kind' | 'channel' | 'externalId'>): string | undefined {
  return of.externalId === undefined ? undefined : `${of.kind} ${of.channel.toLowerCase()} ${of.externalId}`;
}
