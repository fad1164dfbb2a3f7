import {
  JournalBusy,
  type Attempt,
  type TransactionKind,
  type AttemptQuery,
  type TransactionRef,
} from '../datasources/journal/journal';
import { refusedByGatewayError } from '../datasources/payment-service/service-error';
import { withTimeout } from '../shared/timeout';
import { journalUnreadableError, type JournalSession } from './journal-session';

/** Time limit of a read in ms. Only a queued list() can reach it: the journal has a shorter limit for running reads. */
const READ_TIMEOUT_MS = 2000;

/**
 * Reads the attempts of one client from the journal. Every method rejects with a ServiceError (UNAVAILABLE) if the
 * journal fails or does not respond within READ_TIMEOUT_MS.
 */
export class AttemptOperations {
  constructor(private readonly journalSession: JournalSession) {}

  /** Returns the client's attempt with this idempotency key; null if there is none. */
  findByKey(client: string, idempotencyKey: string): Promise<Attempt | null> {
    const { journal, serviceName } = this.journalSession;
    return this.#awaitRead(journal.find({ service: serviceName, client, key: idempotencyKey }));
  }

  /**
   * Returns for each ref, in the same order, the attempt with which this client created the transaction; null if the
   * client did not create it. For a ref with only an external id, returns the client's newest attempt that has this
   * external id and the outcome `succeeded` or `unknown`.
   */
  findCreatingAttempts(
    client: string,
    kind: TransactionKind,
    transactionRefs: readonly TransactionRef[],
  ): Promise<(Attempt | null)[]> {
    const { journal, serviceName } = this.journalSession;
    return this.#awaitRead(journal.findCreated({ service: serviceName, client, kind }, transactionRefs));
  }

  /**
   * Returns a page of a client's attempts, newest first. Rejects (UNAVAILABLE) if the journal cannot be read in time,
   * or if too many calls of list() are already waiting.
   */
  list(query: Omit<AttemptQuery, 'service'>): Promise<Attempt[]> {
    const { journal, serviceName } = this.journalSession;
    return this.#awaitRead(journal.list({ ...query, service: serviceName }));
  }

  #awaitRead<T>(readPromise: Promise<T>): Promise<T> {
    return withTimeout(READ_TIMEOUT_MS, readPromise, this.journalSession.runtime).catch((error: unknown) => {
      throw error instanceof JournalBusy ? refusedByGatewayError(error.message) : journalUnreadableError();
    });
  }
}
