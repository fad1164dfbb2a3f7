// The journal calls of one create.
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { performance } from 'node:perf_hooks';

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
    reservesExternalId: false,
    owner: 'bench',
    leaseUntil: now + 4000,
    startedAt: now,
    serviceStartedAt: null,
    sendUntil: now + 11_000,
    fenceSince: 0,
  };
}

/**
 * Inserts an attempt and records its outcome.
 * @param report receives the durations in ms: ('begin', ms), then ('settle', ms)
 */
export async function cycle(journal, report) {
  const attempt = newAttempt();
  const startedAt = performance.now();
  const begun = await journal.insertAttempt(attempt);
  const begunAt = performance.now();
  if (begun.kind !== 'started') throw new Error(`insertAttempt returned ${begun.kind}.`);
  const settledAt = Date.now();
  await journal.recordOutcome(attempt.id, {
    outcome: 'succeeded',
    transactionId: randomUUID(),
    wireStatus: 'processing',
    settledAt,
    observedState: {
      status: 'PROCESSING',
      state: null,
      received: null,
      isFinal: false,
      nextLookupAt: settledAt + 10_000,
    },
  });
  report?.('begin', begunAt - startedAt);
  report?.('settle', performance.now() - begunAt);
}
