import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { check } from './checker';
import type { HistoryLine, LedgerLine } from './format';
import { EXCEPTIONS, RULES, type Rule } from './run';

const writeLine = (line: string): void => void process.stdout.write(`${line}\n`);

const MAX_VIOLATIONS = 10;

async function readLines<T>(file: string): Promise<T[]> {
  const lines: T[] = [];
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity }))
    if (line !== '') lines.push(JSON.parse(line) as T);
  return lines;
}

export function print({ violations, exceptions, keys, created, history, files }: Judged): void {
  writeLine(`  ${files.join(' ')}`);
  writeLine(`  ${history.length} events, ${keys} keys, ${created} transactions`);
  for (const [name, count] of exceptions) writeLine(`  exception: ${EXCEPTIONS[name]}: ${count}`);
  for (const [rule, description] of Object.entries(RULES)) {
    const found = violations.filter((violation) => violation.rule === (rule as Rule));
    writeLine(found.length === 0 ? `  ok  ${description}` : `  BAD ${description}: ${found.length}`);
    for (const { key, message, lines } of found.slice(0, MAX_VIOLATIONS)) {
      writeLine(`      ${key}: ${message}`);
      for (const line of lines) writeLine(`        ${line}: ${JSON.stringify(history[line - 1])}`);
    }
  }
}

export async function checkFiles(...files: [historyFile: string, ledgerFile: string]) {
  const history = await readLines<HistoryLine>(files[0]);
  return { ...check(history, await readLines<LedgerLine>(files[1])), history, files };
}

export type Judged = Awaited<ReturnType<typeof checkFiles>>;

/** Resolves with the exit code: 0 without violations, 1 with some, 2 for wrong arguments. */
export async function main(args: string[]): Promise<number> {
  const [historyFile, ledgerFile] = args;
  if (historyFile === undefined || ledgerFile === undefined) {
    writeLine('Usage: npm run check-history -- <history.jsonl> <ledger.jsonl>');
    return 2;
  }
  const judged = await checkFiles(historyFile, ledgerFile);
  print(judged);
  return judged.violations.length === 0 ? 0 : 1;
}
