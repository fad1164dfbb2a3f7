import { statSync } from 'node:fs';
import process from 'node:process';
import { readCommandConfig } from '../../config';
import { AuditLogFollower } from '../../observability/audit/follower';
import { AuditLogVerifier, type FileSummary, type AuditFinding } from '../../observability/audit/verifier';
import { sleep } from '../../shared/timeout';
import { EXIT_CODE, InputError, type CommandContext } from '../context';
import { errorOrCauseCode } from '../../shared/error-code';
import type { Terminal } from '../terminal';

/**
 * Maximum number of printed faults in lines and of printed notes; without --json, also of open processes. Does not
 * limit the missing expected hashes (--expect), which are faults, too.
 */
const MAX_PRINTED_FINDINGS = 20;
const AUDIT_LOG_POLL_INTERVAL_MS = 500;

interface VerifyOptions {
  /** Hashes of lines that must be in the log, such as a seal (hash of a file's last line). */
  expect?: readonly string[];
  json?: boolean;
}

/** Runs `paygraph audit verify`. Exit code 1: lines are missing or changed. @throws InputError if a read fails */
export async function verifyAuditLog(
  { terminal, env }: CommandContext,
  logPaths: readonly string[],
  { expect: expectedHashes = [], json }: VerifyOptions,
): Promise<number> {
  const { auditFile, auditKey } = readCommandConfig(env);
  const findingSummary = { faultCount: 0, noteCount: 0, printedFindings: [] as AuditFinding[] };
  const onFinding = (finding: AuditFinding): void => {
    const countOfKind = (findingSummary[finding.isFault ? 'faultCount' : 'noteCount'] += 1);
    if (countOfKind <= MAX_PRINTED_FINDINGS) findingSummary.printedFindings.push(finding);
  };
  const verifier = new AuditLogVerifier(onFinding, auditKey?.reveal() ?? null, expectedHashes);
  for (const logPath of logPaths.length > 0 ? logPaths : [auditFile])
    await verifyFile(logPath, verifier, terminal);
  const verification = verificationResult(verifier, findingSummary);
  if (json) terminal.printJson(verification);
  else terminal.print(describeVerification(verification).join('\n'));
  return verification.isWhole ? EXIT_CODE.done : EXIT_CODE.failed;
}

async function verifyFile(logPath: string, verifier: AuditLogVerifier, terminal: Terminal): Promise<void> {
  const logSizeBytes = statSync(logPath, { throwIfNoEntry: false })?.size ?? 0;
  const onRead = (bytesRead: number): void =>
    terminal.showProgress(
      `${logPath}: ${logSizeBytes === 0 ? 100 : Math.floor((100 * bytesRead) / logSizeBytes)} %`,
    );
  await verifier.verifyFile(logPath, onRead).catch((error: unknown) => {
    throw new InputError(`${logPath} cannot be read (${errorOrCauseCode(error)}).`);
  });
}

/** Returns the result as --json prints it. `findings` has at most MAX_PRINTED_FINDINGS faults and as many notes. */
const verificationResult = (
  { writers, fileSummaries: files, lostEntryCount, missingExpectedHashes }: AuditLogVerifier,
  findingSummary: { faultCount: number; noteCount: number; printedFindings: readonly AuditFinding[] },
) => ({
  isWhole: findingSummary.faultCount + missingExpectedHashes.length === 0,
  faults: findingSummary.faultCount + missingExpectedHashes.length,
  notes: findingSummary.noteCount,
  findings: findingSummary.printedFindings,
  missingSeals: missingExpectedHashes,
  callsNotWritten: lostEntryCount,
  writers: { total: writers.length, open: writers.filter(({ isClosed }) => !isClosed) },
  files,
});

function describeVerification(verification: ReturnType<typeof verificationResult>): string[] {
  const { faults, notes, findings, missingSeals, callsNotWritten, writers, files } = verification;
  const describeOmitted = (linePrefix: string, total: number, noun: string): string[] =>
    total > MAX_PRINTED_FINDINGS
      ? [`${linePrefix}  … and ${total - MAX_PRINTED_FINDINGS} more ${noun}.`]
      : [];
  const lostEntriesText = `note   Entries missing because writing failed: ${callsNotWritten}. The log of the gateway contains them.`;
  return [
    ...findings.map(
      ({ isFault, file, line, message }) =>
        `${isFault ? 'FAULT' : 'note '}  ${file}, line ${line}: ${message}`,
    ),
    ...describeOmitted('FAULT', faults - missingSeals.length, 'faults'),
    ...describeOmitted('note ', notes, 'notes'),
    ...writers.open
      .slice(0, MAX_PRINTED_FINDINGS)
      .map(
        ({ pid, host, opened }) =>
          `note   process ${pid} on ${host} opened the log at ${opened} and has not closed it: it is running or was killed.`,
      ),
    ...describeOmitted('note ', writers.open.length, 'processes'),
    `Processes that wrote the log: ${writers.total}; still open: ${writers.open.length}.`,
    ...(callsNotWritten > 0 ? [lostEntriesText] : []),
    ...files.flatMap(formatFileSummary),
    ...missingSeals.map(
      (missingSeal) =>
        `FAULT  no line has the expected hash ${missingSeal}: lines are missing or were changed.`,
    ),
    faults === 0
      ? `Nothing ${callsNotWritten > 0 ? 'else ' : ''}is missing or changed.`
      : `LINES ARE MISSING OR CHANGED, or AUDIT_LOG_KEY or the given files are wrong. Faults: ${faults}.`,
  ];
}

function formatFileSummary({ name, lines, calls, first, last, seal }: FileSummary): string[] {
  if (seal === undefined) return [`${name}: no lines`];
  return [
    `${name}: ${lines} lines, ${calls} of them calls that move money`,
    `  first line  ${first ?? '-'}`,
    `  last line   ${last ?? '-'}`,
    `  seal        ${seal}`,
  ];
}

/** Runs `paygraph audit follow` until SIGTERM. Then prints the remaining lines and resolves. */
export async function followAuditLog(
  { terminal, env }: CommandContext,
  logPath: string | undefined,
): Promise<void> {
  const follower = new AuditLogFollower(logPath ?? readCommandConfig(env).auditFile);
  const stopController = new AbortController();
  process.once('SIGTERM', () => stopController.abort());
  const printNewLines = (): boolean => {
    const newLinesText = follower.readNewLines();
    if (newLinesText !== '') terminal.print(newLinesText.slice(0, -1));
    return newLinesText !== '';
  };
  while (!stopController.signal.aborted) {
    // If new lines were printed, read again immediately. Waiting 0 ms lets the event loop handle signals and writes.
    const waitMs = printNewLines() ? 0 : AUDIT_LOG_POLL_INTERVAL_MS;
    await sleep(waitMs, undefined, { signal: stopController.signal }).catch(() => undefined);
  }
  while (printNewLines());
  follower.close();
}
