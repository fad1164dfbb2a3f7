import fc from 'fast-check';
import { MUTATIONS, anyBody, anyDocument, brokenDocument, mutationCall } from './fuzz';
import { graphqlProblems } from './assert-safe-response';
import { AttackLog, type Attack } from './target';

/** Returns an attack that sends random bodies until its time is over. */
const fuzz = (name: string, bodies: fc.Arbitrary<string>): Attack => ({
  name,
  share: 0.05,
  run: async (target, { seed, ms }) => {
    const attempts = new AttackLog();
    const until = performance.now() + ms;
    for (let batch = seed; performance.now() < until; batch += 1) {
      for (const body of fc.sample(bodies, { seed: batch, numRuns: 50 })) {
        attempts.add(`seed ${batch}: ${body.slice(0, 120)}`, ...graphqlProblems(await target.post(body)));
        if (performance.now() > until) break;
      }
      target.service.requests.length = 0;
    }
    return attempts;
  },
});

const calls = fc.oneof(...MUTATIONS.map(mutationCall));
const documents = fc.oneof(anyDocument, brokenDocument).map((query) => ({ query }));

export const ATTACKS_ON_DOCUMENTS: readonly Attack[] = [
  fuzz(
    'random inputs',
    calls.map((body) => JSON.stringify(body)),
  ),
  fuzz(
    'random documents',
    documents.map((body) => JSON.stringify(body)),
  ),
  fuzz('random bodies', anyBody),
];
