import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import type { Journal, NewAttempt, OutcomeDetails } from '../../../src/datasources/journal/journal';
import { describeJournals, describeSqliteJournal, type JournalFixture } from '../../journal/support/fixture';
import { readPage } from '../../journal/support/observations';
import { newAttempt } from '../../journal/support/samples';
import { temporaryFolder } from '../../support/cleanup';
import { API_KEY, SECRET_KEY, testService } from '../../support/gateway';
import type { FakePaymentService } from '../../support/payment-service/fake-payment-service';
import type { Store } from '../../support/stores';
import { run, type Ran } from './run';

export type CsvRow = Record<string, string>;

/** Reads CSV strictly: every record has the columns of the header. */
export const readCsv = (text: string): CsvRow[] => parse(text, { columns: true, record_delimiter: '\r\n' });

export const START = Date.UTC(2026, 0, 10);
const HOUR_MS = 60 * 60 * 1000;
/** The period in which `Books.attempt` starts attempts. */
export const TIME = ['--from', '2026-01-10', '--to', '2026-01-11'] as const;

interface Planted {
  attempt: NewAttempt;
  transactionId: string;
}

type Given = Partial<NewAttempt> & {
  /** Status recorded with the create, as the service writes it. */
  status?: string;
  /** GraphQL statuses of the recorded changes, the first of which is that of the create; none by default. */
  changes?: readonly string[];
  /** Fields in which the service's transaction differs from the recorded attempt, completed; null: it has none. */
  shows?: Record<string, unknown> | null;
};

/** A journal, and a payment service with transactions that agree with it or differ from it. */
export class Books {
  /** Channel of attempts for which none is given. */
  readonly channel = randomUUID();
  #started = 0;

  constructor(
    readonly store: Store,
    readonly journal: Journal,
    readonly service: FakePaymentService,
  ) {}

  get env(): Record<string, string> {
    return {
      DATABASE_URL: this.store.url,
      SERVICE_BASE_URL: this.service.url,
      SERVICE_API_KEY: API_KEY,
      SERVICE_SECRET_KEY: SECRET_KEY,
    };
  }

  /** Begins an attempt, some seconds after the start of the previous attempt. */
  async attempt(given: Partial<NewAttempt> = {}, outcome?: OutcomeDetails): Promise<NewAttempt> {
    const startedAt = START + (this.#started += 10_000);
    const place = { service: this.service.url, channel: this.channel, startedAt };
    const attempt = newAttempt({ ...place, leaseUntil: startedAt, method: 'card', ...given });
    await this.journal.insertAttempt(attempt);
    if (outcome) await this.journal.recordOutcome(attempt.id, outcome);
    return attempt;
  }

  /** Records an attempt as succeeded, and gives the service its transaction. */
  async paid({
    status: wireStatus = 'processing',
    changes = [],
    shows = {},
    ...given
  }: Given = {}): Promise<Planted> {
    const transactionId = randomUUID();
    const attempt = await this.attempt(given);
    const settledAt = attempt.startedAt + 1000;
    const [first, ...later] = changes;
    const observedState = first === undefined ? undefined : observedAs(first);
    const outcome = { outcome: 'succeeded', transactionId, wireStatus, settledAt, observedState } as const;
    await this.journal.recordOutcome(attempt.id, outcome);
    for (const [index, next] of later.entries()) {
      const { service: name, kind, channel } = attempt;
      const at = settledAt + (index + 1) * 1000;
      const place = { service: name, kind, channel, transactionId, requestedAt: at, observedAt: at };
      await this.journal.recordObservation({ ...place, ...observedAs(next) });
    }
    if (shows) this.addTransaction(attempt, { transaction_id: transactionId, ...shows });
    return { attempt, transactionId };
  }

  /** Adds to the service the completed transaction that an attempt would create, with `fields` replaced or added. */
  addTransaction(attempt: NewAttempt, fields: Record<string, unknown> = {}): string {
    const { channel, method, currency, value, startedAt, kind } = attempt;
    const payment = {
      amount: { currency, value },
      payment_method: { type: method },
      create_date: new Date(startedAt + 500).toISOString(),
    };
    return this.service.add({ channel, status: 'completed', ...(kind === 'payment' && payment), ...fields });
  }

  /** Waits until every change can be read: earlier transactions of the same PostgreSQL server delay the newest ones. */
  async changesAreReadable(): Promise<void> {
    const range = { service: this.service.url, channel: null, clientByKind: { payment: null, payout: null } };
    await readPage(this.journal, { ...range, after: null, limit: 1 });
  }

  /** Runs `paygraph reconcile` on the channel in this process. */
  async reconcile(
    args: readonly string[] = [],
    { file = reportFile(), env = {} }: { file?: string; env?: Record<string, string> } = {},
  ): Promise<Ran & { file: string; rows: () => CsvRow[] }> {
    await this.changesAreReadable();
    const all = ['reconcile', ...TIME, '--channel', this.channel, '--rate', '1000', '--out', file, ...args];
    const ran = await run(all, { ...this.env, ...env });
    return { ...ran, file, rows: () => readCsv(readFileSync(file, 'utf8')) };
  }
}

export const reportFile = (): string => path.join(temporaryFolder(), 'report.csv');

export const observedAs = (status: string) => ({
  status,
  state: null,
  received: status === 'MISPAID' ? '9.00' : null,
  isFinal: status === 'COMPLETED' || status === 'FAILED',
  nextLookupAt: START + HOUR_MS,
});

type Define = (books: () => Books) => void;

const withBooks =
  (define: Define) =>
  (fixture: JournalFixture): void => {
    let service: FakePaymentService;
    let books: Books;
    beforeAll(async () => {
      service = await testService();
    });
    beforeEach(() => {
      service.requests.length = 0;
      service.respond(() => undefined);
      books = new Books(fixture.store, fixture.journal, service);
    });
    define(() => books);
  };

/** Defines tests that run on both stores. `books` has a new channel in each test. */
export const describeBooks = (name: string, define: Define): void =>
  describeJournals(name, withBooks(define));

/** Defines tests that do not depend on the store. */
export const describeSqliteBooks = (name: string, define: Define): void =>
  describeSqliteJournal(name, withBooks(define));
