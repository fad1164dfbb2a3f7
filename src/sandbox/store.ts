import { isHidden, type TransactionKind, type Transaction } from './transaction';

interface TransactionSearch {
  kind: TransactionKind;
  channel: string;
  transactionId?: string;
  externalId?: string;
  /** Current time in ms since 1970. A transaction that is hidden at this time is not found. */
  now: number;
}

/**
 * Keeps transactions in memory. If the store is full, add() evicts the transaction that got a final status first. If
 * no transaction has a final status, add() evicts the oldest.
 */
export class TransactionStore {
  private readonly byId = new Map<string, Transaction>();
  private readonly byExternalId = new Map<string, Transaction[]>();
  private readonly finalTransactions = new Set<Transaction>();

  constructor(private readonly maxTransactions: number) {}

  add(transaction: Transaction): void {
    if (this.byId.size >= this.maxTransactions) this.evict();
    const { id, externalId } = transaction;
    this.byId.set(id, transaction);
    if (externalId === undefined) return;
    const sameExternalId = this.byExternalId.get(externalId);
    if (sameExternalId) sameExternalId.push(transaction);
    else this.byExternalId.set(externalId, [transaction]);
  }

  /** Records that a transaction has a final status. Such transactions are evicted before open ones. */
  markFinal(transaction: Transaction): void {
    if (this.byId.has(transaction.id)) this.finalTransactions.add(transaction);
  }

  /** Returns a transaction by id, even if it is hidden from lookups. Returns undefined if the id is unknown. */
  get(id: string): Transaction | undefined {
    return this.byId.get(id.toLowerCase());
  }

  /** Returns the newest transaction that matches all given criteria and is not hidden; undefined if there is none. */
  find({ kind, channel, transactionId, externalId, now }: TransactionSearch): Transaction | undefined {
    const candidates =
      transactionId === undefined ? this.byExternalId.get(externalId ?? '') : [this.get(transactionId)];
    return candidates?.findLast(
      (candidate) =>
        candidate?.kind === kind &&
        candidate.channel.toLowerCase() === channel.toLowerCase() &&
        (externalId === undefined || candidate.externalId === externalId) &&
        !isHidden(candidate, now),
    );
  }

  /**
   * Returns up to `limit` transactions, newest first. If `beforeId` is given, returns only transactions older than the
   * one with this id, and [] if there is no transaction with this id.
   */
  list(limit: number, beforeId?: string): Transaction[] {
    const newestFirst = [...this.byId.values()].reverse();
    if (beforeId === undefined) return newestFirst.slice(0, limit);
    const index = newestFirst.findIndex(({ id }) => id === beforeId.toLowerCase());
    return index === -1 ? [] : newestFirst.slice(index + 1, index + 1 + limit);
  }

  clear(): void {
    for (const { outcomeTimer } of this.byId.values()) outcomeTimer?.cancel();
    this.byId.clear();
    this.byExternalId.clear();
    this.finalTransactions.clear();
  }

  private evict(): void {
    const [transaction] = this.finalTransactions.size > 0 ? this.finalTransactions : this.byId.values();
    if (!transaction) return;
    this.finalTransactions.delete(transaction);
    transaction.outcomeTimer?.cancel();
    this.byId.delete(transaction.id);
    const externalId = transaction.externalId ?? '';
    const others = this.byExternalId.get(externalId)?.filter((candidate) => candidate !== transaction) ?? [];
    if (others.length > 0) this.byExternalId.set(externalId, others);
    else this.byExternalId.delete(externalId);
  }
}
