import { isHidden, type TransactionKind, type Transaction } from './transaction';

interface TransactionSearch {
  kind: TransactionKind;
  channel: string;
  transactionId?: string;
  externalId?: string;
  /** Current time in ms since 1970. A transaction that is hidden at this time is not found. */
  nowMs: number;
}

/**
 * Keeps transactions in memory. If the store is full, add() evicts the transaction that got a final status first. If
 * no transaction has a final status, add() evicts the oldest.
 */
export class TransactionStore {
  private readonly transactionById = new Map<string, Transaction>();
  private readonly transactionsByExternalId = new Map<string, Transaction[]>();
  private readonly finalTransactions = new Set<Transaction>();

  constructor(private readonly maxTransactions: number) {}

  add(transaction: Transaction): void {
    if (this.transactionById.size >= this.maxTransactions) this.evictOne();
    const { id, externalId } = transaction;
    this.transactionById.set(id, transaction);
    if (externalId === undefined) return;
    const earlierTransactions = this.transactionsByExternalId.get(externalId);
    if (earlierTransactions) earlierTransactions.push(transaction);
    else this.transactionsByExternalId.set(externalId, [transaction]);
  }

  /** Records that a transaction has a final status. Such transactions are evicted before open ones. */
  markFinal(transaction: Transaction): void {
    if (this.transactionById.has(transaction.id)) this.finalTransactions.add(transaction);
  }

  /** Returns a transaction by id, even if it is hidden from lookups. Returns undefined if the id is unknown. */
  get(transactionId: string): Transaction | undefined {
    return this.transactionById.get(transactionId.toLowerCase());
  }

  /** Returns the newest transaction that matches all given criteria and is not hidden; undefined if there is none. */
  find({ kind, channel, transactionId, externalId, nowMs }: TransactionSearch): Transaction | undefined {
    const candidates =
      transactionId === undefined
        ? this.transactionsByExternalId.get(externalId ?? '')
        : [this.get(transactionId)];
    return candidates?.findLast(
      (candidate) =>
        candidate?.kind === kind &&
        candidate.channel.toLowerCase() === channel.toLowerCase() &&
        (externalId === undefined || candidate.externalId === externalId) &&
        !isHidden(candidate, nowMs),
    );
  }

  /**
   * Returns up to `maxCount` transactions, newest first. If `beforeId` is given, returns only those older than the
   * one with this id, and [] if there is no transaction with this id.
   */
  list(maxCount: number, beforeId?: string): Transaction[] {
    const newestFirst = [...this.transactionById.values()].reverse();
    if (beforeId === undefined) return newestFirst.slice(0, maxCount);
    const beforeIndex = newestFirst.findIndex(({ id }) => id === beforeId.toLowerCase());
    return beforeIndex === -1 ? [] : newestFirst.slice(beforeIndex + 1, beforeIndex + 1 + maxCount);
  }

  clear(): void {
    for (const { outcomeTimer } of this.transactionById.values()) outcomeTimer?.cancel();
    this.transactionById.clear();
    this.transactionsByExternalId.clear();
    this.finalTransactions.clear();
  }

  private evictOne(): void {
    const [transaction] =
      this.finalTransactions.size > 0 ? this.finalTransactions : this.transactionById.values();
    if (!transaction) return;
    this.finalTransactions.delete(transaction);
    transaction.outcomeTimer?.cancel();
    this.transactionById.delete(transaction.id);
    const externalId = transaction.externalId ?? '';
    const others =
      this.transactionsByExternalId.get(externalId)?.filter((other) => other !== transaction) ?? [];
    if (others.length > 0) this.transactionsByExternalId.set(externalId, others);
    else this.transactionsByExternalId.delete(externalId);
  }
}
