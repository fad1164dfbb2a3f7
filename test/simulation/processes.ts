import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { SimulationReport } from './simulation';

/** A seed, and the number of idempotency keys; by default the seed chooses it. */
export interface SeedRun {
  seed: number;
  keys?: number | undefined;
}

interface SeedResult extends SeedRun {
  report: SimulationReport;
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

/** Passes the result of each seed to `onResult`, in order if there is one process, until it returns false. */
export async function simulateInProcesses(
  runs: readonly SeedRun[],
  processes: number,
  run: Run,
  onResult: (result: SeedResult) => boolean,
): Promise<void> {
  const left = runs.values();
  if (processes === 1) {
    for (const each of left) if (!onResult(await measured(each, run))) return;
    return;
  }
  const [program = '', ...args] = process.argv.slice(1);
  let goesOn = true;
  const simulateIn = async (child: ChildProcess): Promise<void> => {
    const exit = once(child, 'exit').then(([code]) => {
      throw new Error(`A process ended with exit code ${code}.`);
    });
    for (const each of left) {
      child.send(each);
      const [result] = (await Promise.race([once(child, 'message'), exit])) as [SeedResult];
      goesOn = goesOn && onResult(result);
      if (!goesOn) break;
    }
    exit.catch(() => undefined);
    child.kill();
  };
  const count = Math.min(processes, runs.length);
  const children = Array.from({ length: count }, () =>
    fork(program, [...args, '--worker'], { serialization: 'advanced' }),
  );
  await Promise.all(children.map(simulateIn));
}
