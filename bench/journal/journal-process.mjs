// Measures the journal alone, in its own process: insertAttempt and recordOutcome, as one create calls them.
import { createRequire } from 'node:module';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { cycle } from './cycle.mjs';
import { serve } from './processes.mjs';

const require = createRequire(import.meta.url);

await serve(async ({ journalUrl }) => {
  const journal = await require('../../dist/datasources/journal/create-journal.js').openJournal(journalUrl);
  await journal.ping();
  return {
    ready: null,
    /** Runs cycles for `milliseconds`, `concurrency` at once. */
    async answer({ concurrency, milliseconds }) {
      const startedAt = performance.now();
      const cpuBefore = process.cpuUsage();
      let cycles = 0;
      let refused = 0;
      const loop = async () => {
        while (performance.now() - startedAt < milliseconds) {
          await cycle(journal).then(
            () => (cycles += 1),
            (error) => {
              if (error.name !== 'JournalUnavailable') throw error;
              refused += 1;
            },
          );
        }
      };
      await Promise.all(Array.from({ length: concurrency }, loop));
      const { user, system } = process.cpuUsage(cpuBefore);
      const seconds = (performance.now() - startedAt) / 1000;
      return { rate: cycles / seconds, cpuMs: (user + system) / 1000 / cycles, refused };
    },
    stop: () => journal.close(),
  };
});
