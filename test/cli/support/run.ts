import { runCommand } from '../../../src/cli/program';
import { Terminal } from '../../../src/cli/terminal';

/** What a command said, and how it ended. */
export interface Ran {
  code: number | null;
  out: string;
  err: string;
}

/** Whether a person looks at what it says beside its result. */
interface Looks {
  isTTY?: boolean;
}

/**
 * `paygraph …` in this very process: the same parsing, commands and exit codes, without half a second for a start.
 * @param env its settings; it has no others
 */
export async function run(
  args: readonly string[],
  env: Record<string, string> = {},
  { isTTY = false }: Looks = {},
): Promise<Ran> {
  const said = { out: '', err: '' };
  const out = { write: (text: string) => (said.out += text) };
  const err = { isTTY, write: (text: string) => (said.err += text) };
  const code = await runCommand(args, { terminal: new Terminal(out, err), env });
  return { code, ...said };
}
