import { AuditLog } from '../../observability/audit/audit-log';
import { readToolConfig, type ToolConfig } from '../../config';
import type { Attempt, Journal } from '../../datasources/journal/journal';
import { openJournal } from '../../datasources/journal/create-journal';
import { openProposals, type SettlementProposals } from '../../datasources/journal/settlement-proposals';
import { JOURNAL_TIMEOUT_MS, UsageError, type Context } from '../context';

/** Maximum number of attempts of unknown outcome that a command reads. */
const MAX_UNKNOWN_ATTEMPTS = 100_000;

/** Error message if Session.findAttempt() returns null. */
export const NO_ATTEMPT_MESSAGE =
  'No attempt has this id or idempotency key, or several clients used the key: use the id of the attempt.';

/** The resources of a command about attempts: journal, proposals and audit log. Disposing of it closes them. */
export class Session implements AsyncDisposable {
  readonly #opened: { close(): Promise<void> }[];

  private constructor(
    readonly context: Context,
    readonly config: ToolConfig,
    readonly journal: Journal,
    /** The base URL of the payment service, which identifies it in the journal. */
    readonly service: string,
  ) {
    this.#opened = [journal];
  }

  static async open(context: Context): Promise<Session> {
    const config = readToolConfig(context.env);
    const service = config.serviceBaseUrl;
    if (service === null)
      throw new UsageError(
        'SERVICE_BASE_URL is not set. Set it as for the gateway; attempts with the embedded sandbox cannot be listed or settled.',
      );
    context.terminal.showProgress('Reading the journal …');
    const journal = await openJournal(config.journalUrl.reveal(), JOURNAL_TIMEOUT_MS);
    return new Session(context, config, journal, service);
  }

  async openProposals(): Promise<SettlementProposals> {
    const proposals = await openProposals(this.config.journalUrl.reveal(), JOURNAL_TIMEOUT_MS);
    this.#opened.unshift(proposals);
    return proposals;
  }

  /** Opens the audit log. @throws AuditLogError if it cannot be written; then nothing may be settled */
  openAuditLog(): AuditLog {
    const { auditFile, auditKey } = this.config;
    const audit = AuditLog.open(auditFile, ({ why }) => this.context.terminal.printMessage(`${why}.`), {
      creator: 'folder owner',
      key: auditKey?.reveal() ?? null,
    });
    this.#opened.unshift(audit);
    return audit;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#opened.map((resource) => resource.close()));
  }

  /** Finds the attempt with an id or idempotency key. Returns null if there is none or several clients used the key. */
  async findAttempt(idOrKey: string): Promise<Attempt | null> {
    const { journal, service } = this;
    return (await journal.findById(service, idOrKey)) ?? (await journal.findAny(service, idOrKey));
  }

  /** Returns the attempts of unknown outcome, oldest first. Prints a message if there may be more than it returns. */
  async unknownAttempts(): Promise<Attempt[]> {
    const found = await this.journal.unknown(this.service, MAX_UNKNOWN_ATTEMPTS);
    if (found.length === MAX_UNKNOWN_ATTEMPTS)
      this.context.terminal.printMessage(`Only the ${MAX_UNKNOWN_ATTEMPTS} oldest attempts were read.`);
    return found;
  }
}
