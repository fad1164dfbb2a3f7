import failedSeeds from './failed-seeds.json';
import type { SeedRun } from './processes';
import { simulate } from './simulation';

/** Seeds that take some 15 s of CPU time. `npm run simulate` runs others. */
const SEEDS: SeedRun[] = [...failedSeeds, ...Array.from({ length: 100 }, (_, at) => ({ seed: 5001 + at }))];

describe('The simulation of several gateways with faults', () => {
  test('finds no violated invariant for a fixed list of seeds', async () => {
    const violations: string[] = [];
    let creates = 0;
    for (const each of SEEDS) {
      const report = await simulate({ ...each, instances: 3 });
      creates += report.creates;
      violations.push(...report.violations.map((violation) => `seed ${each.seed}: ${violation}`));
    }
    expect(violations).toEqual([]);
    expect(creates).toBeGreaterThan(SEEDS.length);
  });

  test('repeats every event with the same seed', async () => {
    const run = async (): Promise<string> => (await simulate({ seed: 17, instances: 2 })).hash;
    expect(await run()).toBe(await run());
  });
});
