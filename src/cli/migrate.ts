import 'reflect-metadata';
import process from 'node:process';
import { readToolConfig } from '../config';
import { openJournal } from '../datasources/journal/open';

/** `npm run migrate`: brings the journal's tables up to date. The gateway does so itself when it starts. */
export async function main(): Promise<void> {
  try {
    const journal = await openJournal(readToolConfig().journalUrl.reveal());
    await journal.ping().finally(() => journal.close());
    process.stdout.write('The journal is up to date.\n');
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : '';
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}${cause}\n`);
    process.exitCode = 1;
  }
}
