import { Program, type ProgramOptions } from '../../exactly-once/support/program';
import { until } from '../../exactly-once/support/gate';
import { Line } from './line';

/** A gateway of several workers, as `npm start` runs it, and a line to each of them. */
export class WorkersGateway {
  readonly program: Program;
  readonly base: string;
  readonly #lines: Line[] = [];

  private constructor(program: Program) {
    this.program = program;
    this.base = program.url.replace(/\/graphql$/, '');
  }

  static async start(count: number, options: ProgramOptions): Promise<WorkersGateway> {
    const env = { WORKERS: String(count), ...options.env };
    return new WorkersGateway(await Program.start({ ...options, env, isPatient: true }));
  }

  /** The processes that have listened so far, in the order in which they began to. */
  get pids(): number[] {
    return pidsOf(this.program);
  }

  /** A line to each worker that lives, in no order. */
  async lines(): Promise<[Line, Line, ...Line[]]> {
    const lines = await linesTo(this.program, this.base);
    this.#lines.push(...lines);
    return lines;
  }

  /** Resolves when none of its workers is left. */
  async isGone(): Promise<void> {
    await until(
      () => this.pids.filter(isRunning),
      (left) => left.length === 0,
    );
  }

  /** Ends all of it, whatever state it is in. */
  async kill(): Promise<void> {
    this.#lines.forEach((line) => line.close());
    await this.program.kill();
    this.pids.filter(isRunning).forEach((pid) => process.kill(pid, 'SIGKILL'));
  }
}

type Printing = Pick<Program, 'output'>;

const pidsOf = (program: Printing): number[] =>
  [...program.output().matchAll(/"worker":(\d+),"msg":"a worker listens"/g)].map(([, pid]) => Number(pid));

/** A line to each worker of a program that lives, in no order: connections are dealt out in turn. */
export async function linesTo(program: Printing, base: string): Promise<[Line, Line, ...Line[]]> {
  const living = pidsOf(program).filter(isRunning);
  const found = new Map<number, Line>();
  while (found.size < living.length) {
    const line = await Line.open(program, base);
    found.get(line.pid)?.close();
    found.set(line.pid, line);
  }
  const [first, second, ...others] = found.values();
  if (!first || !second) throw new Error('There are no two workers.');
  return [first, second, ...others];
}

/** Whether there is such a process. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
