import 'reflect-metadata';
import { ConfigError, readConfig, secretFiles } from '../../config';
import { isUuid } from '../../schema/scalars';
import { EXIT, UsageError, type Context } from '../context';
import { failed, type Finding } from '../doctor/check';
import { CHECKS, runChecks, type NamedFinding } from '../doctor/run-checks';
import type { Terminal } from '../terminal';

interface Options {
  channel?: string;
  json?: boolean;
}

const STYLES: Readonly<Record<Finding['status'], Parameters<Terminal['styled']>[0]>> = {
  ok: 'green',
  warning: 'yellow',
  failed: 'red',
  skipped: 'dim',
};

/** Runs `paygraph doctor`. */
export async function doctor({ terminal, env }: Context, { channel, json }: Options): Promise<number> {
  if (channel !== undefined && !isUuid(channel)) throw new UsageError('--channel: expected a UUID.');
  try {
    const config = readConfig(env);
    terminal.showProgress(`Running ${CHECKS.length} checks …`);
    const context = { config, secretFiles: secretFiles(env), channel, now: () => Date.now() };
    const findings = await runChecks(CHECKS, context);
    printReport(terminal, findings, json);
    return findings.some(({ status }) => status === 'failed') ? EXIT.failed : EXIT.done;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    printReport(terminal, error.errors.map(settingError), json);
    return EXIT.misused;
  }
}

const settingError = (message: string): NamedFinding => ({
  check: 'settings',
  ...failed('setting_invalid', message),
});

function printReport(terminal: Terminal, findings: readonly NamedFinding[], json = false): void {
  const count = (status: Finding['status']): number =>
    findings.filter((finding) => finding.status === status).length;
  const counts = {
    ok: count('ok'),
    warnings: count('warning'),
    failed: count('failed'),
    skipped: count('skipped'),
  };
  if (json) return terminal.printJson({ ...counts, findings });
  for (const finding of findings) terminal.print(describeFinding(finding, terminal));
  const { warnings } = counts;
  terminal.print(
    `\n${counts.ok} ok, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'}, ${counts.failed} failed, ${counts.skipped} skipped.`,
  );
}

const STATUS_WIDTH = 9;
const NAME_WIDTH = 20;
const INDENT = ' '.repeat(STATUS_WIDTH + NAME_WIDTH);

function describeFinding({ check, status, message, remedy }: NamedFinding, terminal: Terminal): string {
  const line = `${terminal.styled(STYLES[status], status.padEnd(STATUS_WIDTH))}${check.padEnd(NAME_WIDTH)}${message}`;
  return remedy === undefined ? line : `${line}\n${INDENT}→ ${remedy}`;
}
