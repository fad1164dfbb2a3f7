// Measures the journal alone, in its own process: insertAttempt and recordOutcome, as one create calls them.
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { serve } from './processes.mjs';

const require = createRequire(import.meta.url);
const { newAttemptId } = require('../../dist/datasources/journal/stored-values.js');

function newAttempt() {
  const now = Date.now();
  const key = { service: 'http://127.0.0.1:4001/', client: 'local', key: randomUUID() };
  return {
    id: newAttemptId(key),
    ...key,
    kind: 'payment',
    fingerprint: randomUUID(),
    channel: '7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10',
    method: 'card',
    externalId: randomUUID(),
    currency: 'EUR',
    value: '10.00',
    publicDetails: '{}',
    reserve: false,
    owner: 'bench',
    leaseUntil: now + 4000,
    startedAt: now,
    serviceStartedAt: null,
    sendUntil: now + 11_000,
    fenceSince: 0,
  };
}

async function cycle(journal) {
  const attempt = newAttempt();
  const begun = await journal.insertAttempt(attempt);
  if (begun.kind !== 'started') throw new Error(`insertAttempt returned ${begun.kind}.`);
  await journal.recordOutcome(attempt.id, {
    outcome: 'succeeded',
    transactionId: randomUUID(),
    status: 'processing',
    settledAt: Date.now(),
  });
}

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
