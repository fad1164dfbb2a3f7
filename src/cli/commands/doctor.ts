import 'reflect-metadata';
import { ConfigError, readConfig, secretFiles, type Config } from '../../config';
import { isUuid } from '../../schema/scalars';
import { EXIT, UsageError, type Context } from '../context';
import type { Finding } from '../doctor/check';
import { CHECKS } from '../doctor/checks';
import { runChecks, type Named } from '../doctor/run-checks';
import type { Terminal } from '../terminal';

interface Options {
  channel?: string;
  json?: boolean;
}

type Status = Finding['status'];

const LOOKS: Readonly<Record<Status, Parameters<Terminal['styled']>[0]>> = {
  ok: 'green',
  warning: 'yellow',
  failed: 'red',
  skipped: 'dim',
};

/** `paygraph doctor`. The exit code says whether something failed, or the settings are wrong. */
export async function doctor({ terminal, env }: Context, { channel, json }: Options): Promise<number> {
  if (channel !== undefined && !isUuid(channel))
    throw new UsageError('--channel: expected the UUID of a channel.');
  const config = settingsOr(env, (faults) => report(terminal, faults.map(asFinding), json));
  if (!config) return EXIT.misused;
  terminal.progress(`${CHECKS.length} checks are under way …`);
  const examined = { config, secretFiles: secretFiles(env), channel, now: () => Date.now() };
  const findings = await runChecks(CHECKS, examined);
  report(terminal, findings, json);
  return findings.some(({ status }) => status === 'failed') ? EXIT.failed : EXIT.done;
}

/** The settings; where they are wrong `wrong` hears of all that is. */
function settingsOr(env: Context['env'], wrong: (faults: readonly string[]) => void): Config | undefined {
  try {
    return readConfig(env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    wrong(error.errors);
    return undefined;
  }
}

const asFinding = (says: string): Named => ({
  check: 'settings',
  status: 'failed',
  says,
  mend: 'docs/configuration.md says what it means. Nothing else can be checked before.',
});

function report(terminal: Terminal, findings: readonly Named[], json = false): void {
  const count = (status: Status): number => findings.filter((finding) => finding.status === status).length;
  const counts = {
    ok: count('ok'),
    warnings: count('warning'),
    failed: count('failed'),
    skipped: count('skipped'),
  };
  if (json) return terminal.printJson({ ...counts, findings });
  findings.forEach((finding, place) => terminal.print(describe(finding, findings[place + 1], terminal)));
  terminal.print(
    `\n${counts.ok} ok, ${counts.warnings} ${counts.warnings === 1 ? 'warning' : 'warnings'}, ${counts.failed} failed, ${counts.skipped} do not apply.`,
  );
}

const STATUS_WIDTH = 9;
const NAME_WIDTH = 20;
const INDENT = ' '.repeat(STATUS_WIDTH + NAME_WIDTH);

function describe({ check, status, says, mend }: Named, next: Named | undefined, terminal: Terminal): string {
  const word = terminal.styled(LOOKS[status], status.padEnd(STATUS_WIDTH));
  const line = `${word}${check.padEnd(NAME_WIDTH)}${says}`;
  // What is to be done once for several findings in a row is said once.
  return mend === undefined || (next?.check === check && next.mend === mend)
    ? line
    : `${line}\n${INDENT}→ ${mend}`;
}
