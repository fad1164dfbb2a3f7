import 'reflect-metadata';
import { readToolConfig } from '../../config';
import { openJournal } from '../../datasources/journal/create-journal';
import { EXIT, JOURNAL_TIMEOUT_MS, type Context } from '../context';

/** Runs `paygraph migrate`. Rejects if the journal cannot be opened. */
export async function migrate({ terminal, env }: Context): Promise<number> {
  const { journalUrl } = readToolConfig(env);
  terminal.showProgress('Migrating the tables of the journal …');
  const journal = await openJournal(journalUrl.reveal(), JOURNAL_TIMEOUT_MS);
  await journal.ping().finally(() => journal.close());
  terminal.print('All migrations are applied.');
  return EXIT.done;
}
