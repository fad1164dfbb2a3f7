import { isSettled, type Kind, type Transaction } from './transaction';

interface Link {
  transaction: Transaction;
  older?: Link;
  newer?: Link;
}

/** A list by age, from which any link can be taken out at once: a Map slows down when its front is eaten away. */
class AgeList {
  oldest?: Link;
  newest?: Link;

  append(transaction: Transaction): Link {
    const link: Link = { transaction, older: this.newest };
    if (this.newest) this.newest.newer = link;
    else this.oldest = link;
    this.newest = link;
    return link;
  }

  remove(link: Link): void {
    if (link.older) link.older.newer = link.newer;
    else this.oldest = link.newer;
    if (link.newer) link.newer.older = link.older;
    else this.newest = link.older;
  }
}

interface Entry {
  byAge: Link;
  settled?: Link;
}

export interface Search {
  kind: Kind;
  channel: string;
  transactionId?: string;
  externalId?: string;
  now: number;
}

/** All transactions, in memory and bounded: the one settled longest ago goes first, then the oldest. */
export class Store {
  private readonly entries = new Map<string, Entry>();
  private readonly byExternalId = new Map<string, Transaction[]>();
  private all = new AgeList();
  private settled = new AgeList();

  constructor(private readonly maxTransactions: number) {}

  get size(): number {
    return this.entries.size;
  }

  add(transaction: Transaction): void {
    if (this.entries.size >= this.maxTransactions) this.evict();
    this.entries.set(transaction.id, { byAge: this.all.append(transaction) });
    const key = externalKey(transaction);
    if (key === undefined) return;
    const sharing = this.byExternalId.get(key);
    if (sharing) sharing.push(transaction);
    else this.byExternalId.set(key, [transaction]);
  }

  /** Called once, when a transaction has reached its end. */
  markSettled(transaction: Transaction): void {
    const entry = this.entries.get(transaction.id);
    if (entry && isSettled(transaction)) entry.settled ??= this.settled.append(transaction);
  }

  get(id: string): Transaction | undefined {
    return this.entries.get(id.toLowerCase())?.byAge.transaction;
  }

  /** What a lookup sees: where both ids are given both must fit; of several with one external id, the newest. */
  find(search: Search): Transaction | undefined {
    const candidates =
      search.transactionId === undefined ? this.sharing(search) : [this.get(search.transactionId)];
    return candidates.findLast((found) => found !== undefined && fits(found, search));
  }

  /** Newest first, beginning behind the transaction `before`. */
  list(limit: number, before?: string): Transaction[] {
    const listed: Transaction[] = [];
    let link = before === undefined ? this.all.newest : this.entries.get(before.toLowerCase())?.byAge.older;
    for (; link && listed.length < limit; link = link.older) listed.push(link.transaction);
    return listed;
  }

  clear(): void {
    for (let link = this.all.oldest; link; link = link.newer) link.transaction.timer?.cancel();
    this.entries.clear();
    this.byExternalId.clear();
    this.all = new AgeList();
    this.settled = new AgeList();
  }

  private sharing(search: Search): Transaction[] {
    const { kind, channel, externalId } = search;
    return this.byExternalId.get(externalKey({ kind, channel, externalId }) ?? '') ?? [];
  }

  private evict(): void {
    const transaction = (this.settled.oldest ?? this.all.oldest)?.transaction;
    const entry = transaction && this.entries.get(transaction.id);
    if (!entry) return;
    transaction.timer?.cancel();
    this.entries.delete(transaction.id);
    this.all.remove(entry.byAge);
    if (entry.settled) this.settled.remove(entry.settled);
    this.forgetExternalId(transaction);
  }

  private forgetExternalId(transaction: Transaction): void {
    const key = externalKey(transaction);
    const sharing = key === undefined ? undefined : this.byExternalId.get(key);
    if (key === undefined || !sharing) return;
    sharing.splice(sharing.indexOf(transaction), 1);
    if (sharing.length === 0) this.byExternalId.delete(key);
  }
}

function fits(found: Transaction, search: Search): boolean {
  return (
    found.kind === search.kind &&
    found.channel.toLowerCase() === search.channel.toLowerCase() &&
    (search.externalId === undefined || found.externalId === search.externalId) &&
    (found.hiddenUntil === undefined || found.hiddenUntil <= search.now)
  );
}

function externalKey(of: Pick<Transaction, 'kind' | 'channel' | 'externalId'>): string | undefined {
  // A UUID holds no blank: the key cannot be read in two ways.
  return of.externalId === undefined ? undefined : `${of.kind} ${of.channel.toLowerCase()} ${of.externalId}`;
}
