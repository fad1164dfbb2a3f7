import { AuditLog } from '../../observability/audit/audit-log';
import { readToolConfig, type ToolConfig } from '../../config';
import type { Attempt, Journal } from '../../datasources/journal/journal';
import { openJournal } from '../../datasources/journal/create-journal';
import { openProposals, type SettlementProposals } from '../../datasources/journal/settlement-proposals';
import { JOURNAL_TIMEOUT_MS, UsageError, type Context } from '../context';

/** Upper limit of the attempts that a command reads. */
const MAX_UNKNOWN = 100_000;

/** The message where Session.find() returns null. */
export const NO_ATTEMPT = 'No such attempt, or several clients used this key: use the id.';

/** The journal of one service while a command runs. Closes everything that was opened through it. */
export class Session implements AsyncDisposable {
  readonly #opened: { close(): Promise<void> }[];

  private constructor(
    readonly context: Context,
    readonly config: ToolConfig,
    readonly journal: Journal,
    /** Identifies the service in the journal. */
    readonly service: string,
  ) {
    this.#opened = [journal];
  }

  static async open(context: Context): Promise<Session> {
    const config = readToolConfig(context.env);
    const service = config.serviceBaseUrl;
    if (service === null)
      throw new UsageError('SERVICE_BASE_URL is not set: the attempts of the embedded sandbox are not kept.');
    context.terminal.progress('Reading the journal …');
    const journal = await openJournal(config.journalUrl.reveal(), JOURNAL_TIMEOUT_MS);
    return new Session(context, config, journal, service);
  }

  async openProposals(): Promise<SettlementProposals> {
    const proposals = await openProposals(this.config.journalUrl.reveal(), JOURNAL_TIMEOUT_MS);
    this.#opened.unshift(proposals);
    return proposals;
  }

  /** Opens the audit log. @throws AuditLogError where it cannot be written: then nothing may be settled */
  openAudit(): AuditLog {
    const { auditFile, auditKey } = this.config;
    const audit = AuditLog.open(auditFile, ({ why }) => this.context.terminal.say(`${why}.`), {
      owner: 'folder owner',
      key: auditKey?.reveal() ?? null,
    });
    this.#opened.unshift(audit);
    return audit;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#opened.map((resource) => resource.close()));
  }

  /** The attempt with that id or idempotency key; null where there is none, or several clients used the key. */
  async find(idOrKey: string): Promise<Attempt | null> {
    const { journal, service } = this;
    return (await journal.findById(service, idOrKey)) ?? (await journal.findAny(service, idOrKey));
  }

  /** Attempts of unknown outcome, oldest first. */
  async unknownAttempts(): Promise<Attempt[]> {
    const found = await this.journal.unknown(this.service, MAX_UNKNOWN);
    if (found.length === MAX_UNKNOWN)
      this.context.terminal.say(`Only the oldest ${MAX_UNKNOWN} attempts were read.`);
    return found;
  }
}
