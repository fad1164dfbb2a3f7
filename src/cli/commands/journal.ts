import { readCommandConfig } from '../../config';
import { migrateJournal, openJournal } from '../../datasources/journal/create-journal';
import type { FenceState } from '../../datasources/journal/fence';
import { JOURNAL_TIMEOUT_MS, type CommandContext } from '../context';
import { isoTime } from '../terminal';

/** Runs `paygraph migrate`. Rejects if the journal cannot be opened or migrated. */
export async function migrate({ terminal, env }: CommandContext): Promise<void> {
  const { journalUrl } = readCommandConfig(env);
  terminal.showProgress('Migrating the tables of the journal …');
  await migrateJournal(journalUrl.reveal());
  terminal.print('All migrations are applied.');
}

/**
 * Runs `paygraph fence [on|off]`. While the fence of the journal is up, gateways look up every create before they send
 * it (docs/exactly-once.md). Rejects if the journal cannot be read or written.
 */
export async function showOrSwitchFence(
  { terminal, env }: CommandContext,
  fenceAction?: 'on' | 'off',
): Promise<void> {
  const { journalUrl, fenceMs } = readCommandConfig(env);
  const journal = await openJournal(journalUrl.reveal(), JOURNAL_TIMEOUT_MS);
  try {
    if (fenceAction) await journal.setFence(fenceAction === 'on' ? 'operator' : null);
    terminal.print(describeFence(await journal.readFenceState(), await journal.time(), fenceMs));
  } finally {
    await journal.close();
  }
}

function describeFence({ fence }: FenceState, now: number, fenceDurationMs: number): string {
  const endsAtMs = (fence?.since ?? 0) + fenceDurationMs;
  if (!fence || now >= endsAtMs) return 'The fence is down: payments are sent without a lookup.';
  const [since, end] = [fence.since, endsAtMs].map(isoTime);
  return `The fence is up from ${since} (reason: ${fence.reason}) to ${end}: every create is looked up before it is sent.`;
}
