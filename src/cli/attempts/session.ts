import { AuditLog } from '../../observability/audit/audit-log';
import { readCommandConfig } from '../../config';
import { openJournal } from '../../datasources/journal/create-journal';
import { JOURNAL_TIMEOUT_MS, UsageError, type CommandContext } from '../context';
import { readOperator } from './operator';

/** Maximum number of attempts of unknown outcome that a command reads. */
const MAX_UNKNOWN_ATTEMPTS = 100_000;

/** Error message if CliSession.findAttempt() finds no attempt. */
export const ATTEMPT_NOT_FOUND_MESSAGE =
  'No attempt at this SERVICE_BASE_URL has this id or idempotency key. If several clients used the key, use the id of the attempt.';

/** Returns SERVICE_BASE_URL, which identifies the service in the journal. @throws UsageError if it is not set */
export function requireServiceUrl(baseUrl: string | null): string {
  if (baseUrl) return baseUrl;
  throw new UsageError(
    'SERVICE_BASE_URL is not set. Set it to the same value as for the gateway; the command does not work with the embedded sandbox.',
  );
}

/** Resources of an `attempts` or `changes` command, such as the journal and the audit log. Disposal closes them. */
export type CliSession = Awaited<ReturnType<typeof openCliSession>>;

/**
 * Opens the journal for an `attempts` or `changes` command.
 * @param byValue value of the option --by
 * @throws UsageError, before the journal is opened, if the option is invalid or SERVICE_BASE_URL is not set
 */
export async function openCliSession(context: CommandContext, byValue?: string) {
  const { terminal } = context;
  const config = readCommandConfig(context.env);
  const serviceName = requireServiceUrl(config.serviceBaseUrl);
  const operator = readOperator(config.sudoUser, byValue);
  terminal.showProgress('Reading the journal …');
  const resources = new AsyncDisposableStack();
  const closeResource = (resource: { close(): Promise<void> }): Promise<void> => resource.close();
  const journal = resources.adopt(
    await openJournal(config.journalUrl.reveal(), JOURNAL_TIMEOUT_MS),
    closeResource,
  );
  return {
    terminal,
    config,
    operator,
    journal,
    /** SERVICE_BASE_URL, which identifies the payment service in the journal. */
    serviceName,
    /** Opens the audit log. @throws AuditLogError if the log cannot be written; the command must then settle nothing */
    openAuditLog: () => {
      const auditOptions = {
        creationPolicy: 'folder owner',
        hmacKey: config.auditKey?.reveal() ?? null,
      } as const;
      const auditLog = AuditLog.open(
        config.auditFile,
        ({ why }) => terminal.printMessage(`${why}.`),
        auditOptions,
      );
      return resources.adopt(auditLog, closeResource);
    },
    /** Finds an attempt by its id or idempotency key. Null if there is none, or if several clients used the key. */
    findAttempt: (idOrKey: string) => journal.findAny(serviceName, idOrKey),
    /**
     * Returns the attempts of unknown outcome, oldest first. If there are MAX_UNKNOWN_ATTEMPTS or more, returns only
     * that many and prints a message.
     */
    readUnknownAttempts: async () => {
      const unknownAttempts = await journal.unknown(serviceName, MAX_UNKNOWN_ATTEMPTS);
      if (unknownAttempts.length === MAX_UNKNOWN_ATTEMPTS)
        terminal.printMessage(
          `Only the ${MAX_UNKNOWN_ATTEMPTS} oldest attempts of unknown outcome were read. Settle these, then repeat the command.`,
        );
      return unknownAttempts;
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync().catch(() => undefined),
  };
}
