import { fork } from 'node:child_process';
import { on, once } from 'node:events';
import type { SimulationReport } from './simulation';

/** A seed, and the number of idempotency keys; by default the seed chooses it. */
export interface SeedRun {
  seed: number;
  keys?: number | undefined;
}

interface SeedResult extends SeedRun {
  report: SimulationReport;
  /** Processor time of the seed in ms. */
  cpuMs: number;
}

type Run = (each: SeedRun) => Promise<SimulationReport>;

async function measured(each: SeedRun, run: Run): Promise<SeedResult> {
  const before = process.cpuUsage();
  const report = await run(each);
  const { user, system } = process.cpuUsage(before);
  return { ...each, report, cpuMs: (user + system) / 1000 };
}

/** Simulates each seed that the parent process sends. Resolves when the parent disconnects. */
export async function simulateOnRequest(run: Run): Promise<number> {
  process.on('message', (each: SeedRun) => void measured(each, run).then((result) => process.send?.(result)));
  await once(process, 'disconnect');
  return 0;
}

/** Yields the reports of all seeds: in order if there is one process, else as they come. */
export async function* simulateInProcesses(
  runs: readonly SeedRun[],
  processes: number,
  run: Run,
): AsyncGenerator<SeedResult> {
  if (processes === 1) {
    for (const each of runs) yield await measured(each, run);
    return;
  }
  const [program = '', ...args] = process.argv.slice(1);
  const left = runs.values();
  const results = new EventTarget();
  const ended = new AbortController();
  const children = Array.from({ length: Math.min(processes, runs.length) }, () => {
    const child = fork(program, [...args, '--worker'], { serialization: 'advanced' });
    const sendNext = (): void => {
      const next = left.next();
      if (!next.done) child.send(next.value);
    };
    child.on('message', (detail: SeedResult) => {
      results.dispatchEvent(new CustomEvent('result', { detail }));
      sendNext();
    });
    child.on('exit', (code) => ended.abort(new Error(`A process ended with exit code ${code}.`)));
    sendNext();
    return child;
  });
  try {
    let count = 0;
    for await (const [event] of on(results, 'result', { signal: ended.signal })) {
      yield (event as CustomEvent<SeedResult>).detail;
      count += 1;
      if (count === runs.length) return;
    }
  } finally {
    for (const child of children) child.removeAllListeners('exit').kill();
  }
}
