import { ConfigError, readConfig, secretFiles } from '../../config';
import { EXIT_CODE, type CommandContext } from '../context';
import { findingOf, type Finding } from '../doctor/check';
import { CHECKS, runChecks, type NamedFinding } from '../doctor/run-checks';
import type { Terminal } from '../terminal';

const STATUS_WIDTH = 9;
const NAME_WIDTH = 20;
const STATUS_STYLES: Readonly<Record<Finding['status'], Parameters<Terminal['styled']>[0]>> = {
  ok: 'green',
  warning: 'yellow',
  failed: 'red',
  skipped: 'dim',
};

/** Runs all checks of `paygraph doctor`, and prints the report. Returns EXIT_CODE.failed if a check has failed. */
export async function doctor(
  { terminal, env }: CommandContext,
  { channel, json }: { channel?: string; json?: boolean },
): Promise<number> {
  try {
    const config = readConfig(env);
    terminal.showProgress(`Running ${CHECKS.length} checks …`);
    const checkContext = { config, secretFiles: secretFiles(env), channel, now: () => Date.now() };
    const findings = await runChecks(CHECKS, checkContext);
    printDoctorReport(terminal, findings, json);
    return findings.some(({ status }) => status === 'failed') ? EXIT_CODE.failed : EXIT_CODE.done;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const findings = error.errors.map((message) => findingOf.failed('setting_invalid', message));
    const namedFindings = findings.map((settingFinding) => ({ check: 'settings', ...settingFinding }));
    printDoctorReport(terminal, namedFindings, json);
    return EXIT_CODE.misused;
  }
}

function printDoctorReport(terminal: Terminal, findings: readonly NamedFinding[], json = false): void {
  const statuses = ['ok', 'warning', 'failed', 'skipped'] as const;
  const [ok, warnings, failures, skipped] = statuses.map(
    (status) => findings.filter((namedFinding) => namedFinding.status === status).length,
  );
  if (json) return terminal.printJson({ ok, warnings, failed: failures, skipped, findings });
  for (const { check, status, message, remedy } of findings) {
    const statusLabel = terminal.styled(STATUS_STYLES[status], status.padEnd(STATUS_WIDTH));
    terminal.print(`${statusLabel}${check.padEnd(NAME_WIDTH)}${message}`);
    if (remedy !== undefined) terminal.print(`${' '.repeat(STATUS_WIDTH + NAME_WIDTH)}→ ${remedy}`);
  }
  terminal.print(`\n${ok} ok, ${warnings} with a warning, ${failures} failed, ${skipped} skipped.`);
}
