import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Tally } from '../chaos/random';
import { findPlantedBugs } from './find-planted-bugs';
import { simulateInProcesses, simulateOnRequest, type SeedRun } from './processes';
import { simulate, type SimulationReport } from './simulation';

const writeLine = (line: string): void => void process.stdout.write(`${line}\n`);

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
  readonly #faults = new Tally();
  readonly #inWindow = new Tally();
  #seeds = 0;
  #calls = 0;
  #creates = 0;
  #events = 0;
  #simulatedSeconds = 0;
  #cpuSeconds = 0;
  #maxRecoveryMs = 0;

  add(report: SimulationReport, cpuMs: number): void {
    this.#seeds += 1;
    this.#calls += report.calls;
    this.#creates += report.creates;
    this.#events += report.events;
    this.#simulatedSeconds += report.simulatedMs / 1000;
    this.#cpuSeconds += cpuMs / 1000;
    this.#maxRecoveryMs = Math.max(this.#maxRecoveryMs, report.recoveryMs);
    for (const [name, count] of report.faults) this.#faults.add(name, count);
    for (const [name, count] of report.inWindow) this.#inWindow.add(name, count);
  }

  print(seconds: number, failures: number): void {
    const perMinute = (count: number): string =>
      `${Math.round((count / seconds) * 60).toLocaleString('en')} per minute`;
    const perCpuSecond = (count: number): number => Math.round(count / this.#cpuSeconds);
    const right = (count = 0): string => String(count).padStart(9);
    const pairs = [...this.#inWindow].filter(([name]) => name.includes(' + ')).sort(([, a], [, b]) => a - b);
    const [simulated, creates] = [this.#simulatedSeconds, this.#creates];
    [
      'Faults, and how many creates were open when they happened:',
      ...[...this.#faults]
        .sort()
        .map(([name, count]) => `  ${name.padEnd(24)} ${right(count)} ${right(this.#inWindow.get(name))}`),
      `Pairs of faults while a create was open: ${pairs.length} kinds. The rarest:`,
      ...pairs.slice(0, 8).map(([name, count]) => `  ${name.padEnd(48)} ${right(count)}`),
      '',
      `Seeds ${this.#seeds}, ${perMinute(this.#seeds)}`,
      `Calls ${this.#calls}, creates at the service ${creates}, ${perMinute(creates)}`,
      `Events ${this.#events}, ${perMinute(this.#events)}`,
      `Simulated hours ${(simulated / 3600).toFixed(1)}, ${Math.round(simulated / seconds)} x real time`,
      `Processor time ${this.#cpuSeconds.toFixed(1)} s; in each of them ${perCpuSecond(simulated)} simulated seconds, ${perCpuSecond(creates)} creates`,
      `Longest recovery after the faults: ${Math.round(this.#maxRecoveryMs / 1000)} s`,
      failures === 0 ? 'Every invariant holds.' : `${failures} seeds break an invariant.`,
    ].forEach((line) => writeLine(line));
  }
}
