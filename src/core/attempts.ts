import {
  JournalBusy,
  type Attempt,
  type AttemptKind,
  type AttemptPage,
  type TransactionRef,
} from '../datasources/journal/journal';
import { ServiceError } from '../datasources/payment-service/service-error';
import { withTimeout } from '../shared/timeout';
import type { JournalSession } from './journal-session';

const READ_TIMEOUT_MS = 2000;

/** What the journal tells callers of their own creates. */
export class AttemptOperations {
  constructor(private readonly hand: JournalSession) {}

  /** By the key that a client made it with; null when it never used that key. */
  find(client: string, key: string): Promise<Attempt | null> {
    return this.#read(this.hand.journal.find({ service: this.hand.service, client, key }));
  }

  /**
   * The attempt with which a client created each of the transactions; null for what it did not create. Throws
   * UNAVAILABLE where the journal cannot tell.
   */
  findCreated(
    client: string,
    kind: AttemptKind,
    refs: readonly TransactionRef[],
  ): Promise<(Attempt | null)[]> {
    const { journal, service } = this.hand;
    return this.#read(journal.findCreated({ service, client, kind }, refs));
  }

  /** A page of a client's attempts, newest first. */
  list(page: Omit<AttemptPage, 'service'>): Promise<Attempt[]> {
    return this.#read(this.hand.journal.list({ ...page, service: this.hand.service }));
  }

  #read<T>(asked: Promise<T>): Promise<T> {
    return withTimeout(READ_TIMEOUT_MS, asked).catch((error: unknown) => {
      if (error instanceof JournalBusy)
        throw new ServiceError('UNAVAILABLE', 'Too many lists of attempts are being read.', 1000, true);
      throw new ServiceError('UNAVAILABLE', "The gateway's journal cannot be reached.", 1000, true);
    });
  }
}
