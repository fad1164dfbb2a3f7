import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { findPlantedBugs } from './find-planted-bugs';
import { simulateInProcesses, simulateOnRequest, type SeedRun } from './processes';
import { simulate, type SimulationReport } from './simulation';

const writeLine = (line = ''): void => void process.stdout.write(`${line}\n`);

/** Seeds that once failed, run before all others. */
const failedSeeds = (): SeedRun[] =>
  JSON.parse(readFileSync(path.join(__dirname, 'failed-seeds.json'), 'utf8')) as SeedRun[];

const OPTIONS = {
  seeds: { type: 'string', default: '1000' },
  first: { type: 'string', default: '1' },
  seed: { type: 'string' },
  instances: { type: 'string', default: '3' },
  keys: { type: 'string' },
  doublecheck: { type: 'boolean', default: false },
  trace: { type: 'boolean', default: false },
  all: { type: 'boolean', default: false },
  'planted-bug': { type: 'string' },
  'planted-bugs': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  processes: { type: 'string' },
  /** Set by the process that hands out the seeds. */
  worker: { type: 'boolean', default: false },
} as const;

/** Simulates seeds; resolves with the exit code. */
export async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: OPTIONS });
  if (values['planted-bugs']) return findPlantedBugs(Number(values.seeds));
  const instances = Number(values.instances);
  const keys = values.keys === undefined ? undefined : Number(values.keys);
  const first = Number(values.first);
  const range = Array.from({ length: Number(values.seeds) }, (_, index) => first + index);
  const earlier = values['planted-bug'] === undefined ? failedSeeds() : [];
  const runs =
    values.seed === undefined
      ? [...earlier, ...range.map((seed) => ({ seed, keys }))]
      : [{ seed: Number(values.seed), keys }];
  const run = async (each: SeedRun): Promise<SimulationReport> => {
    const report = await simulate({ ...each, instances, keepsTrace: values.trace });
    if (values.doublecheck && (await simulate({ ...each, instances })).hash !== report.hash)
      report.violations.push('a seed repeats every event');
    return report;
  };
  if (values.worker) return simulateOnRequest(run);
  const isSingle = values.trace || values['planted-bug'] !== undefined || runs.length === 1;
  const processes = Number(values.processes ?? (isSingle ? 1 : availableParallelism()));
  const startedAt = performance.now();
  const totals = new Totals();
  let failures = 0;
  for await (const { seed, keys: used, report, cpuMs } of simulateInProcesses(runs, processes, run)) {
    totals.add(report, cpuMs);
    if (values.trace) writeLine(JSON.stringify(report.profile));
    if (values.trace) report.trace.forEach((line) => writeLine(line));
    if (report.violations.length === 0) continue;
    if (values.json) writeLine(JSON.stringify({ seed, violations: report.violations }));
    else {
      writeLine(`Seed ${seed}:`);
      for (const violation of report.violations) writeLine(`  BAD ${violation}`);
      const more = used === undefined ? '' : ` --keys ${used}`;
      writeLine(`  Rerun: npm run simulate -- --seed ${seed} --instances ${instances}${more} --trace`);
    }
    failures += 1;
    if (!values.all) return 1;
  }
  if (!values.json) totals.print((performance.now() - startedAt) / 1000, failures);
  return failures > 0 ? 1 : 0;
}

/** The sums of all reports. */
class Totals {
  readonly #faults = new Map<string, number>();
  readonly #inWindow = new Map<string, number>();
  #seeds = 0;
  #simulatedMs = 0;
  #creates = 0;
  #calls = 0;
  #events = 0;
  #maxRecoveryMs = 0;
  #cpuMs = 0;

  add(
    { simulatedMs, creates, calls, events, recoveryMs, faults, inWindow }: SimulationReport,
    cpuMs: number,
  ): void {
    this.#seeds += 1;
    this.#cpuMs += cpuMs;
    this.#simulatedMs += simulatedMs;
    this.#creates += creates;
    this.#calls += calls;
    this.#events += events;
    this.#maxRecoveryMs = Math.max(this.#maxRecoveryMs, recoveryMs);
    for (const [name, count] of faults) this.#faults.set(name, (this.#faults.get(name) ?? 0) + count);
    for (const [name, count] of inWindow) this.#inWindow.set(name, (this.#inWindow.get(name) ?? 0) + count);
  }

  print(seconds: number, failures: number): void {
    const perMinute = (count: number): string => Math.round((count / seconds) * 60).toLocaleString('en');
    writeLine('Faults, and how many creates were open when they happened:');
    for (const [name, count] of [...this.#faults].sort())
      writeLine(
        `  ${name.padEnd(24)} ${String(count).padStart(9)} ${String(this.#inWindow.get(name) ?? 0).padStart(9)}`,
      );
    const pairs = [...this.#inWindow].filter(([name]) => name.includes(' + ')).sort(([, a], [, b]) => a - b);
    writeLine(`Pairs of faults while a create was open: ${pairs.length} kinds. The rarest:`);
    for (const [name, count] of pairs.slice(0, 8))
      writeLine(`  ${name.padEnd(48)} ${String(count).padStart(9)}`);
    writeLine();
    writeLine(`Seeds ${this.#seeds}, ${perMinute(this.#seeds)} per minute`);
    writeLine(
      `Calls ${this.#calls}, creates at the service ${this.#creates}, ${perMinute(this.#creates)} per minute`,
    );
    writeLine(`Events ${this.#events}, ${perMinute(this.#events)} per minute`);
    writeLine(
      `Simulated hours ${(this.#simulatedMs / 3_600_000).toFixed(1)}, ${Math.round(this.#simulatedMs / 1000 / seconds)} x real time`,
    );
    const cpuSeconds = this.#cpuMs / 1000;
    const [simulated, creates] = [this.#simulatedMs / 1000, this.#creates].map((sum) =>
      Math.round(sum / cpuSeconds),
    );
    writeLine(
      `Processor time ${cpuSeconds.toFixed(1)} s; in each of them ${simulated} simulated seconds, ${creates} creates`,
    );
    writeLine(`Longest recovery after the faults: ${Math.round(this.#maxRecoveryMs / 1000)} s`);
    writeLine(failures === 0 ? 'Every invariant holds.' : `${failures} seeds break an invariant.`);
  }
}
