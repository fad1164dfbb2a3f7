import 'reflect-metadata';
import { statSync } from 'node:fs';
import os from 'node:os';
import process from 'node:process';
import { readLines } from '../../observability/audit/lines';
import {
  Verifier,
  type ChainState,
  type FileSummary,
  type Finding,
} from '../../observability/audit/verifier';
import { readToolConfig } from '../../config';
import { EXIT, InputError, UsageError, type Context } from '../context';
import type { Terminal } from '../terminal';

/** More of them say no more. */
const MAX_PRINTED = 20;

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** The first findings, and how many there are in all. */
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
      ({ isFault, file, line, says }) => `${isFault ? 'FAULT' : 'note '}  ${file}, line ${line}: ${says}`,
    );
    if (this.faults > MAX_PRINTED) lines.push(`FAULT  … and ${this.faults - MAX_PRINTED} more faults.`);
    if (this.notes > MAX_PRINTED) lines.push(`note   … and ${this.notes - MAX_PRINTED} more notes.`);
    return lines;
  }
}

function describeFile({ name, lines, calls, first, last, seal }: FileSummary): string {
  if (seal === undefined) return `${name}: no lines`;
  return [
    `${name}: ${counted(lines, 'line')}, ${calls} of them calls`,
    `  first line  ${first ?? '-'}`,
    `  last line   ${last ?? '-'}`,
    `  seal        ${seal}`,
  ].join('\n');
}

function isRunning({ pid, host }: ChainState): boolean {
  if (host !== os.hostname() || pid === 0) return false;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function describeOpen(chain: ChainState): string {
  const ending = isRunning(chain) ? 'is open: its process is running' : 'ended without closing';
  return `note   chain ${chain.id.slice(0, 8)} (process ${chain.pid} on ${chain.host}, since ${chain.opened}) ${ending}.`;
}

function describeChains(chains: readonly ChainState[]): string[] {
  const open = chains.filter(({ isClosed }) => !isClosed);
  const lines = open.slice(0, MAX_PRINTED).map(describeOpen);
  if (open.length > MAX_PRINTED)
    lines.push(`note   … and ${open.length - MAX_PRINTED} more chains without an end.`);
  return [
    ...lines,
    `${counted(chains.length, 'chain')} (one for each process that wrote), ${chains.length - open.length} of them closed.`,
  ];
}

/** What was found, for a person. */
function describe(verifier: Verifier, findings: Findings, faults: number): string {
  const { chains, missed, files, notFound } = verifier;
  return [
    ...findings.describe(),
    ...describeChains(chains),
    ...(missed > 0
      ? [
          `note   ${counted(missed, 'call')} could not be written, say the lines: the gateway's own log has them.`,
        ]
      : []),
    ...files.map(describeFile),
    ...notFound.map(
      (hash) => `FAULT  ${hash} was expected and is not there: lines are missing or were changed.`,
    ),
    faults === 0
      ? `Nothing ${missed > 0 ? 'else ' : ''}is missing or changed.`
      : `THE AUDIT LOG WAS CHANGED: ${counted(faults, 'fault')}.`,
  ].join('\n');
}

/** What was found, for scripts; of faults and notes the first ones. */
function factsOf({ chains, missed, files, notFound }: Verifier, findings: Findings, faults: number): object {
  const chainFacts = chains.map(({ id, pid, host, opened, isClosed }) => ({
    id,
    pid,
    host,
    opened,
    isClosed,
  }));
  const open = chainFacts.filter(({ isClosed }) => !isClosed);
  return {
    isWhole: faults === 0,
    faults,
    notes: findings.notes,
    findings: findings.first,
    missingSeals: notFound,
    callsNotWritten: missed,
    chains: { total: chains.length, open },
    files,
  };
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

async function verifyFile(file: string, verifier: Verifier, terminal: Terminal): Promise<void> {
  const total = sizeOf(file);
  let read = 0;
  verifier.beginFile(file);
  const take: Verifier['take'] = (line, isEnded) => {
    verifier.take(line, isEnded);
    // Every byte is one character.
    read += line.length + 1;
    terminal.progress(`${file}: ${total === 0 ? 100 : Math.floor((100 * read) / total)} %`);
  };
  await readLines(file, take).catch((error: unknown) => {
    const { code } = Object.assign({ code: 'unknown' }, error);
    throw new InputError(`${file} cannot be read (${code}).`);
  });
  verifier.endFile();
}

function readExpected(texts: readonly string[]): string[] {
  if (texts.every((text) => /^[0-9a-f]{64}$/i.test(text))) return texts.map((text) => text.toLowerCase());
  throw new UsageError('--expect: expected 64 hexadecimal digits.');
}

interface Options {
  expect: readonly string[];
  json?: boolean;
}

/** `paygraph audit verify`. The exit code says whether anything is missing or changed. */
export async function verify(context: Context, files: readonly string[], options: Options): Promise<number> {
  const { terminal, env } = context;
  const findings = new Findings();
  const verifier = new Verifier(findings.add, readExpected(options.expect));
  const chosen = files.length > 0 ? files : [readToolConfig(env).auditFile];
  for (const file of chosen) await verifyFile(file, verifier, terminal);
  const faults = findings.faults + verifier.notFound.length;
  if (options.json) terminal.printJson(factsOf(verifier, findings, faults));
  else terminal.print(describe(verifier, findings, faults));
  return faults === 0 ? EXIT.done : EXIT.failed;
}
