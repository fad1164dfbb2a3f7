import {
  JournalBusy,
  type Attempt,
  type AttemptKind,
  type AttemptQuery,
  type TransactionRef,
} from '../datasources/journal/journal';
import { notTriedError } from '../datasources/payment-service/service-error';
import { withTimeout } from '../shared/timeout';
import type { JournalSession } from './journal-session';

const READ_TIMEOUT_MS = 2000;

/** Reads a client's own attempts. Every method rejects with a ServiceError (UNAVAILABLE) if the journal fails. */
export class AttemptOperations {
  constructor(private readonly session: JournalSession) {}

  /** Returns a client's attempt with an idempotency key; null if there is none. */
  find(client: string, key: string): Promise<Attempt | null> {
    const { journal, service } = this.session;
    return this.#read(journal.find({ service, client, key }));
  }

  /** Returns for each transaction the attempt that created it; null if this client did not create it. */
  findCreated(
    client: string,
    kind: AttemptKind,
    refs: readonly TransactionRef[],
  ): Promise<(Attempt | null)[]> {
    const { journal, service } = this.session;
    return this.#read(journal.findCreated({ service, client, kind }, refs));
  }

  /** Returns a page of a client's attempts, newest first. */
  list(page: Omit<AttemptQuery, 'service'>): Promise<Attempt[]> {
    const { journal, service } = this.session;
    return this.#read(journal.list({ ...page, service }));
  }

  #read<T>(reading: Promise<T>): Promise<T> {
    return withTimeout(READ_TIMEOUT_MS, reading, this.session.runtime).catch((error: unknown) => {
      const message =
        error instanceof JournalBusy
          ? error.message
          : "The gateway's journal cannot be read. Try again later.";
      throw notTriedError(message);
    });
  }
}
