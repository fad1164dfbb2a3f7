import 'reflect-metadata';
import { statSync } from 'node:fs';
import { Verifier, type FileSummary, type Finding, type Writer } from '../../observability/audit/verifier';
import { readToolConfig } from '../../config';
import { EXIT, InputError, UsageError, type Context } from '../context';
import type { Terminal } from '../terminal';

/** Maximum number of faults that are printed; also of notes, and of processes. */
const MAX_PRINTED = 20;

const countOf = (count: number, what: string): string =>
  count === 1 ? `1 ${what}` : `${count} ${what.endsWith('s') ? `${what}e` : what}s`;

/** The first faults and notes, and the numbers of all. */
class Findings {
  readonly first: Finding[] = [];
  faults = 0;
  notes = 0;

  readonly add = (finding: Finding): void => {
    const count = finding.isFault ? (this.faults += 1) : (this.notes += 1);
    if (count <= MAX_PRINTED) this.first.push(finding);
  };

  describe(): string[] {
    const lines = this.first.map(
      ({ isFault, file, line, message }) =>
        `${isFault ? 'FAULT' : 'note '}  ${file}, line ${line}: ${message}`,
    );
    if (this.faults > MAX_PRINTED) lines.push(`FAULT  … and ${this.faults - MAX_PRINTED} more faults.`);
    if (this.notes > MAX_PRINTED) lines.push(`note   … and ${this.notes - MAX_PRINTED} more notes.`);
    return lines;
  }
}

function describeFile({ name, lines, calls, first, last, seal }: FileSummary): string {
  if (seal === undefined) return `${name}: no lines`;
  return [
    `${name}: ${countOf(lines, 'line')}, ${calls} of them calls that move money`,
    `  first line  ${first ?? '-'}`,
    `  last line   ${last ?? '-'}`,
    `  seal        ${seal}`,
  ].join('\n');
}

function describeWriters(writers: readonly Writer[]): string[] {
  const open = writers.filter(({ isClosed }) => !isClosed);
  const lines = open
    .slice(0, MAX_PRINTED)
    .map(
      ({ pid, host, opened }) =>
        `note   process ${pid} on ${host}, since ${opened}, has not closed the log: it is running or was killed.`,
    );
  if (open.length > MAX_PRINTED) lines.push(`note   … and ${open.length - MAX_PRINTED} more processes.`);
  return [...lines, `Written by ${countOf(writers.length, 'process')}; still open: ${open.length}.`];
}

/** Returns the result of `audit verify` as text. */
function describeResult(verifier: Verifier, findings: Findings, faults: number): string {
  const { writers, missed, files, notFound } = verifier;
  return [
    ...findings.describe(),
    ...describeWriters(writers),
    ...(missed > 0
      ? [`note   Calls missing because writing failed: ${missed}. The log of the gateway contains them.`]
      : []),
    ...files.map(describeFile),
    ...notFound.map(
      (hash) => `FAULT  no line has the expected hash ${hash}: lines are missing or were changed.`,
    ),
    faults === 0
      ? `Nothing ${missed > 0 ? 'else ' : ''}is missing or changed.`
      : `THE AUDIT LOG WAS CHANGED: ${countOf(faults, 'fault')}.`,
  ].join('\n');
}

/** Returns the result of `audit verify` for JSON output, with the first faults and notes. */
function resultJson(verifier: Verifier, findings: Findings, faults: number): object {
  const { writers, missed, files, notFound } = verifier;
  return {
    isWhole: faults === 0,
    faults,
    notes: findings.notes,
    findings: findings.first,
    missingSeals: notFound,
    callsNotWritten: missed,
    writers: { total: writers.length, open: writers.filter(({ isClosed }) => !isClosed) },
    files,
  };
}

async function verifyFile(file: string, verifier: Verifier, terminal: Terminal): Promise<void> {
  const total = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const onRead = (bytes: number): void =>
    terminal.showProgress(`${file}: ${total === 0 ? 100 : Math.floor((100 * bytes) / total)} %`);
  await verifier.verifyFile(file, onRead).catch((error: unknown) => {
    const { code } = Object.assign({ code: 'unknown' }, error);
    throw new InputError(`${file} cannot be read (${code}).`);
  });
}

function readExpectedHashes(texts: readonly string[]): string[] {
  if (texts.every((text) => /^[0-9a-f]{64}$/i.test(text))) return texts.map((text) => text.toLowerCase());
  throw new UsageError('--expect: expected a seal or the hash of a line, 64 hexadecimal digits.');
}

interface Options {
  expect: readonly string[];
  json?: boolean;
}

/** Runs `paygraph audit verify`. Resolves with exit code 1 if lines are missing or changed. */
export async function verify(context: Context, files: readonly string[], options: Options): Promise<number> {
  const { terminal, env } = context;
  const { auditFile, auditKey } = readToolConfig(env);
  const findings = new Findings();
  const verifier = new Verifier(findings.add, auditKey?.reveal() ?? null, readExpectedHashes(options.expect));
  for (const file of files.length > 0 ? files : [auditFile]) await verifyFile(file, verifier, terminal);
  const faults = findings.faults + verifier.notFound.length;
  if (options.json) terminal.printJson(resultJson(verifier, findings, faults));
  else terminal.print(describeResult(verifier, findings, faults));
  return faults === 0 ? EXIT.done : EXIT.failed;
}
