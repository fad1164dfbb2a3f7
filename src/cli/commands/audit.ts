import { statSync } from 'node:fs';
import process from 'node:process';
import { readCommandConfig } from '../../config';
import { AuditLogFollower } from '../../observability/audit/follower';
import { AuditLogVerifier, type FileSummary, type AuditFinding } from '../../observability/audit/verifier';
import { sleep } from '../../shared/timeout';
import { EXIT, InputError, type CommandContext } from '../context';
import { errorOrCauseCode } from '../../shared/error-code';
import type { Terminal } from '../terminal';

/** Maximum number of printed faults, of printed notes, and of processes in the text. */
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
  files: readonly string[],
  { expect = [], json }: VerifyOptions,
): Promise<number> {
  const { auditFile, auditKey } = readCommandConfig(env);
  const summary = { faultCount: 0, noteCount: 0, printedFindings: [] as AuditFinding[] };
  const onFinding = (finding: AuditFinding): void => {
    const countOfKind = (summary[finding.isFault ? 'faultCount' : 'noteCount'] += 1);
    if (countOfKind <= MAX_PRINTED_FINDINGS) summary.printedFindings.push(finding);
  };
  const verifier = new AuditLogVerifier(onFinding, auditKey?.reveal() ?? null, expect);
  for (const file of files.length > 0 ? files : [auditFile]) await verifyFile(file, verifier, terminal);
  const result = verificationResult(verifier, summary);
  if (json) terminal.printJson(result);
  else terminal.print(describeVerification(result).join('\n'));
  return result.isWhole ? EXIT.done : EXIT.failed;
}

async function verifyFile(file: string, verifier: AuditLogVerifier, terminal: Terminal): Promise<void> {
  const fileBytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const onRead = (bytesRead: number): void =>
    terminal.showProgress(`${file}: ${fileBytes === 0 ? 100 : Math.floor((100 * bytesRead) / fileBytes)} %`);
  await verifier.verifyFile(file, onRead).catch((error: unknown) => {
    throw new InputError(`${file} cannot be read (${errorOrCauseCode(error)}).`);
  });
}

/** Returns the result as --json prints it. The result has at most MAX_PRINTED_FINDINGS faults and as many notes. */
const verificationResult = (
  { writers, fileSummaries: files, lostEntryCount, missingHashes }: AuditLogVerifier,
  summary: { faultCount: number; noteCount: number; printedFindings: readonly AuditFinding[] },
) => ({
  isWhole: summary.faultCount + missingHashes.length === 0,
  faults: summary.faultCount + missingHashes.length,
  notes: summary.noteCount,
  findings: summary.printedFindings,
  missingSeals: missingHashes,
  callsNotWritten: lostEntryCount,
  writers: { total: writers.length, open: writers.filter(({ isClosed }) => !isClosed) },
  files,
});

function describeVerification(result: ReturnType<typeof verificationResult>): string[] {
  const { faults, notes, findings, missingSeals, callsNotWritten, writers, files } = result;
  const describeOmitted = (label: string, count: number, noun: string): string[] =>
    count > MAX_PRINTED_FINDINGS ? [`${label}  … and ${count - MAX_PRINTED_FINDINGS} more ${noun}.`] : [];
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
      (hash) => `FAULT  no line has the expected hash ${hash}: lines are missing or were changed.`,
    ),
    faults === 0
      ? `Nothing ${callsNotWritten > 0 ? 'else ' : ''}is missing or changed.`
      : `THE AUDIT LOG WAS CHANGED. Faults: ${faults}.`,
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
  file: string | undefined,
): Promise<void> {
  const follower = new AuditLogFollower(file ?? readCommandConfig(env).auditFile);
  const stopController = new AbortController();
  process.once('SIGTERM', () => stopController.abort());
  const printNewLines = (): boolean => {
    const lines = follower.readNewLines();
    if (lines !== '') terminal.print(lines.slice(0, -1));
    return lines !== '';
  };
  while (!stopController.signal.aborted) {
    // If new lines were printed, read again immediately. Waiting 0 ms lets the event loop handle signals and writes.
    const waitMs = printNewLines() ? 0 : AUDIT_LOG_POLL_INTERVAL_MS;
    await sleep(waitMs, undefined, { signal: stopController.signal }).catch(() => undefined);
  }
  while (printNewLines());
  follower.close();
}
