import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Tally } from '../chaos/random';
import failedSeeds from './failed-seeds.json';
import { simulateInProcesses, simulateOnRequest, type SeedRun } from './processes';
import { simulate, type SimulationReport } from './simulation';

const writeLine = (line: string): void => void process.stdout.write(`${line}\n`);

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

export async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({ args, options: OPTIONS });
  if (values['planted-bugs']) return findPlantedBugs(Number(values.seeds));
  const instances = Number(values.instances);
  const keys = values.keys === undefined ? undefined : Number(values.keys);
  const first = Number(values.seed ?? values.first);
  const length = values.seed === undefined ? Number(values.seeds) : 1;
  // Seeds that once failed are run before all others.
  const earlier: SeedRun[] = (values.seed ?? values['planted-bug']) === undefined ? failedSeeds : [];
  const runs = [...earlier, ...Array.from({ length }, (_, index) => ({ seed: first + index, keys }))];
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
  await simulateInProcesses(runs, processes, run, ({ seed, keys: used, report, cpuMs }) => {
    totals.add(report, cpuMs);
    if (values.trace) [JSON.stringify(report.profile), ...report.trace].forEach(writeLine);
    if (report.violations.length === 0) return true;
    failures += 1;
    if (values.json) writeLine(JSON.stringify({ seed, violations: report.violations }));
    else {
      writeLine(`Seed ${seed}:`);
      for (const violation of report.violations) writeLine(`  BAD ${violation}`);
      const more = used === undefined ? '' : ` --keys ${used}`;
      writeLine(`  Rerun: npm run simulate -- --seed ${seed} --instances ${instances}${more} --trace`);
    }
    return values.all;
  });
  if (!values.json) totals.print((performance.now() - startedAt) / 1000, failures);
  return failures > 0 ? 1 : 0;
}

class Totals {
  readonly #faults = new Tally();
  readonly #inWindow = new Tally();
  readonly #sums = new Tally();
  #maxRecoveryMs = 0;

  add(report: SimulationReport, cpuMs: number): void {
    const { calls, creates, events, simulatedMs, recoveryMs, faults, inWindow } = report;
    const figures = { seeds: 1, calls, creates, events, simulatedMs, cpuMs };
    for (const [name, count] of Object.entries(figures)) this.#sums.add(name, count);
    for (const [name, count] of faults) this.#faults.add(name, count);
    for (const [name, count] of inWindow) this.#inWindow.add(name, count);
    this.#maxRecoveryMs = Math.max(this.#maxRecoveryMs, recoveryMs);
  }

  print(seconds: number, failures: number): void {
    const sum = (name: string): number => this.#sums.get(name) ?? 0;
    const perMinute = (name: string): string => `${Math.round((sum(name) / seconds) * 60)} per minute`;
    const right = (count = 0): string => String(count).padStart(9);
    const pairs = [...this.#inWindow].filter(([name]) => name.includes(' + ')).sort(([, a], [, b]) => a - b);
    [
      'Faults, and how many creates were open when they happened:',
      ...[...this.#faults]
        .sort()
        .map(([name, count]) => `  ${name.padEnd(24)} ${right(count)} ${right(this.#inWindow.get(name))}`),
      `Pairs of faults while a create was open: ${pairs.length} kinds. The rarest:`,
      ...pairs.slice(0, 8).map(([name, count]) => `  ${name.padEnd(48)} ${right(count)}`),
      '',
      `Seeds ${sum('seeds')}, ${perMinute('seeds')}`,
      `Calls ${sum('calls')}, creates at the service ${sum('creates')}, ${perMinute('creates')}`,
      `Events ${sum('events')}, ${perMinute('events')}`,
      `Simulated hours ${(sum('simulatedMs') / 3_600_000).toFixed(1)}, ${Math.round(sum('simulatedMs') / 1000 / seconds)} x real time`,
      `Creates per second of processor time ${Math.round((sum('creates') / sum('cpuMs')) * 1000)}`,
      `Longest recovery after the faults: ${Math.round(this.#maxRecoveryMs / 1000)} s`,
      failures === 0 ? 'Every invariant holds.' : `${failures} seeds break an invariant.`,
    ].forEach((line) => writeLine(line));
  }
}

/** The first seed that finds a bug; null if it could not be run. */
interface Finding {
  seed: number | null;
  violations: string[];
}

function findBug(id: string, seeds: number): Promise<Finding | undefined> {
  const args = ['scripts/run-harness.mjs', 'simulation', '--planted-bug', id, '--seeds', String(seeds)];
  return new Promise((resolve) => {
    execFile(process.execPath, [...args, '--json'], (error, stdout, stderr) => {
      if (!error) resolve(undefined);
      else if (stdout) resolve(JSON.parse(stdout) as Finding);
      else resolve({ seed: null, violations: [`could not run: ${stderr.slice(-200)}`] });
    });
  });
}

async function findPlantedBugs(seeds: number): Promise<number> {
  const { bugs } = (await import(path.join(__dirname, 'planted-bugs.mjs'))) as {
    bugs: { id: string; promise: string }[];
  };
  const left = bugs.values();
  let missed = 0;
  const work = async (): Promise<void> => {
    for (const { id, promise } of left) {
      const { seed = null, violations = [promise] } = (await findBug(id, seeds)) ?? {};
      if (seed === null) missed += 1;
      const place = seed === null ? 'NOT FOUND' : `seed ${seed}`;
      writeLine(`${id.padEnd(40)} ${place.padEnd(10)} ${violations[0]?.slice(0, 80)}`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, work));
  writeLine(`${bugs.length - missed} of ${bugs.length} planted bugs found within ${seeds} seeds each.`);
  return missed > 0 ? 1 : 0;
}
