import { AuditLog } from '../../observability/audit/audit-log';
import { readToolConfig, type ToolConfig } from '../../config';
import type { Attempt, Journal } from '../../datasources/journal/journal';
import { openJournal } from '../../datasources/journal/create-journal';
import { openProposals, type SettlementProposals } from '../../datasources/journal/settlement-proposals';
import { JOURNAL_TIMEOUT_MS, UsageError, type Context } from '../context';

/** The journal of the settings, as an operator's command uses it. */
export interface Session {
  config: ToolConfig;
  journal: Journal;
  /** Names the service whose attempts these are. */
  service: string;
}

/** Does something with the journal of the settings, and closes it. */
export async function withJournal<T>(
  { env, terminal }: Context,
  use: (session: Session) => Promise<T>,
): Promise<T> {
  const config = readToolConfig(env);
  const service = config.serviceBaseUrl;
  if (service === null)
    throw new UsageError("SERVICE_BASE_URL is not set: a sandbox's attempts are gone with it.");
  terminal.progress('Asking the journal …');
  const journal = await openJournal(config.journalUrl.reveal(), JOURNAL_TIMEOUT_MS);
  try {
    return await use({ config, journal, service });
  } finally {
    await journal.close();
  }
}

/** Does something with the proposals beside the journal of a session, and closes them. */
export async function withProposals<T>(
  { config }: Session,
  use: (proposals: SettlementProposals) => Promise<T>,
): Promise<T> {
  const proposals = await openProposals(config.journalUrl.reveal(), JOURNAL_TIMEOUT_MS);
  try {
    return await use(proposals);
  } finally {
    await proposals.close();
  }
}

/**
 * Does something that is recorded in the audit log of the settings, and closes it. Rejects with an AuditLogError where
 * the log cannot be written: then nothing may be done.
 */
export async function withAudit<T>(
  { terminal }: Context,
  { config }: Session,
  use: (audit: AuditLog) => Promise<T>,
): Promise<T> {
  const audit = AuditLog.open(config.auditFile, ({ why }) => terminal.say(`${why}.`), {
    owner: 'folder owner',
    key: config.auditKey?.reveal() ?? null,
  });
  try {
    return await use(audit);
  } finally {
    await audit.close();
  }
}

/** The attempt of an id or of an idempotency key; null where there is none, or several have the key. */
export async function findAttempt({ journal, service }: Session, name: string): Promise<Attempt | null> {
  return (await journal.findById(service, name)) ?? (await journal.findAny(service, name));
}

/** The message where findAttempt finds nothing. */
export const NO_ATTEMPT = 'There is no such attempt, or several clients used this key: give the id.';

/** More of them are not read at once. */
const MAX_UNKNOWN = 100_000;

/** Unknown outcomes, oldest first. Says so where there may be more. */
export async function unknownAttempts({ terminal }: Context, session: Session): Promise<Attempt[]> {
  const found = await session.journal.unknown(session.service, MAX_UNKNOWN);
  if (found.length === MAX_UNKNOWN) terminal.say(`There may be more than these ${MAX_UNKNOWN}.`);
  return found;
}
