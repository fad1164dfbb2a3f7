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

/** Reads a client's own attempts from the journal. Throws UNAVAILABLE when the journal cannot be read. */
export class AttemptOperations {
  constructor(private readonly session: JournalSession) {}

  /** By idempotency key; null when the client never used it. */
  find(client: string, key: string): Promise<Attempt | null> {
    const { journal, service } = this.session;
    return this.#read(journal.find({ service, client, key }));
  }

  /** The attempt with which a client created each of the transactions; null for those that it did not create. */
  findCreated(
    client: string,
    kind: AttemptKind,
    refs: readonly TransactionRef[],
  ): Promise<(Attempt | null)[]> {
    const { journal, service } = this.session;
    return this.#read(journal.findCreated({ service, client, kind }, refs));
  }

  /** A page of a client's attempts, newest first. */
  list(page: Omit<AttemptPage, 'service'>): Promise<Attempt[]> {
    const { journal, service } = this.session;
    return this.#read(journal.list({ ...page, service }));
  }

  #read<T>(reading: Promise<T>): Promise<T> {
    return withTimeout(READ_TIMEOUT_MS, reading).catch((error: unknown) => {
      const message =
        error instanceof JournalBusy
          ? 'Too many lists of attempts are being read.'
          : "The gateway's journal cannot be reached.";
      throw new ServiceError('UNAVAILABLE', message, 1000, true);
    });
  }
}
