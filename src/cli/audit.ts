import 'reflect-metadata';
import os from 'node:os';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { readLines } from '../audit/lines';
import { Verifier, type ChainState, type FileSummary, type Finding } from '../audit/verifier';
import { readConfig } from '../config';

const USAGE = `Checks the audit log, the record of every call that moves money.

  npm run audit -- verify                         the file of AUDIT_LOG_FILE, or data/audit.log
  npm run audit -- verify <file> <file> …         several files in their order, oldest first, where logs are rotated
  npm run audit -- verify --expect <seal>         also fails unless this seal is there; may be given several times

A seal is a hash over all lines of a file up to one. Keep the one that verify prints in another place: by it shows later
whether lines were cut off at the end. The hash of a single line does for --expect, too.
Exit code: 0 nothing is missing or changed, 1 something is, 2 it could not be found out.
`;

/** What was typed cannot be done; the message is for the person who typed it. */
class UsageError extends Error {}

class FileError extends Error {}

/** More of them say no more. */
const MAX_PRINTED = 20;

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

const print = (text: string): void => void process.stdout.write(`${text}\n`);

/** Prints the first findings and counts all of them. */
class Findings {
  #faults = 0;
  #notes = 0;

  readonly add = ({ isFault, file, line, says }: Finding): void => {
    const count = isFault ? (this.#faults += 1) : (this.#notes += 1);
    if (count <= MAX_PRINTED) print(`${isFault ? 'FAULT' : 'note '}  ${file}, line ${line}: ${says}`);
  };

  get faults(): number {
    return this.#faults;
  }

  printRest(): void {
    if (this.#faults > MAX_PRINTED) print(`FAULT  … and ${this.#faults - MAX_PRINTED} more faults.`);
    if (this.#notes > MAX_PRINTED) print(`note   … and ${this.#notes - MAX_PRINTED} more notes.`);
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

function printOpen(chains: readonly ChainState[]): void {
  const open = chains.filter(({ isClosed }) => !isClosed);
  for (const chain of open.slice(0, MAX_PRINTED)) print(describeOpen(chain));
  if (open.length > MAX_PRINTED)
    print(`note   … and ${open.length - MAX_PRINTED} more chains without an end.`);
  print(
    `${counted(chains.length, 'chain')} (one for each start of a gateway), ${chains.length - open.length} of them closed.`,
  );
}

/** Checks the files; true where nothing is missing or changed. */
async function verify(files: readonly string[], expected: readonly string[]): Promise<boolean> {
  const findings = new Findings();
  const verifier = new Verifier(findings.add, expected);
  for (const file of files) {
    verifier.beginFile(file);
    await readLines(file, verifier.take).catch((error: unknown) => {
      const { code } = Object.assign({ code: 'unknown' }, error);
      throw new FileError(`${file} cannot be read (${code}).`);
    });
    verifier.endFile();
  }
  findings.printRest();
  printOpen(verifier.chains);
  if (verifier.missed > 0)
    print(
      `note   ${counted(verifier.missed, 'call')} could not be written, say the lines: the gateway's own log has them.`,
    );
  verifier.files.map(describeFile).forEach(print);
  for (const hash of verifier.notFound)
    print(`FAULT  ${hash} was expected and is not there: lines are missing or were changed.`);
  const faults = findings.faults + verifier.notFound.length;
  print(
    faults === 0
      ? 'Nothing is missing or changed.'
      : `THE AUDIT LOG WAS CHANGED: ${counted(faults, 'fault')}.`,
  );
  return faults === 0;
}

function readExpected(texts: readonly string[]): string[] {
  if (texts.every((text) => /^[0-9a-f]{64}$/i.test(text))) return texts.map((text) => text.toLowerCase());
  throw new UsageError('--expect: expected 64 hexadecimal digits.');
}

async function run(): Promise<number> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      expect: { type: 'string', multiple: true, default: [] },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) {
    print(USAGE.trimEnd());
    return 0;
  }
  const [command, ...files] = positionals;
  if (command !== 'verify') throw new UsageError('What shall be done?');
  const expected = readExpected(values.expect);
  return (await verify(files.length > 0 ? files : [readConfig().auditFile], expected)) ? 0 : 1;
}

/** `npm run audit`: exit code 0 when nothing is missing or changed, 1 when something is, 2 when it could not be found out. */
export async function main(): Promise<void> {
  try {
    process.exitCode = await run();
  } catch (error) {
    const isUsage = error instanceof UsageError || (error instanceof TypeError && 'code' in error);
    const says = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${says}\n${isUsage ? `\n${USAGE}` : ''}`);
    process.exitCode = 2;
  }
}
