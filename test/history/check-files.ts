import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { check, type Verdict } from './checker';
import type { HistoryLine, LedgerLine } from './format';
import { EXCEPTIONS, RULES, type Exception, type Rule } from './run';

const writeLine = (line = ''): void => void process.stdout.write(`${line}\n`);

/** Maximum number of violations of a rule that are printed. */
const MAX_VIOLATIONS = 10;

async function readLines<T>(file: string): Promise<T[]> {
  const lines: T[] = [];
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity }))
    if (line !== '') lines.push(JSON.parse(line) as T);
  return lines;
}

/** A verdict, with the history and the ledger that it judges. */
export interface Judged extends Verdict {
  history: readonly HistoryLine[];
  ledger: readonly LedgerLine[];
  files: string[];
}

export function print({ violations, exceptions, counts, keys, created, history, files }: Judged): void {
  writeLine(`  ${files.join(' ')}`);
  writeLine(`  ${history.length} events, ${keys} keys, ${created} transactions`);
  for (const [name, count] of [...counts].sort(([a], [b]) => a.localeCompare(b)))
    writeLine(`  ${name.padEnd(48)} ${count}`);
  for (const [name, count] of exceptions)
    writeLine(`  exception: ${EXCEPTIONS[name as Exception]}: ${count}`);
  for (const [rule, description] of Object.entries(RULES)) {
    const found = violations.filter((violation) => violation.rule === (rule as Rule));
    writeLine(
      `  ${found.length === 0 ? 'ok ' : 'BAD'} ${description}${found.length === 0 ? '' : `: ${found.length}`}`,
    );
    for (const { key, message, lines } of found.slice(0, MAX_VIOLATIONS)) {
      writeLine(`      ${key}: ${message}`);
      for (const line of lines) writeLine(`        ${line}: ${JSON.stringify(history[line - 1])}`);
    }
  }
}

export async function checkFiles(...files: [historyFile: string, ledgerFile: string]): Promise<Judged> {
  const history = await readLines<HistoryLine>(files[0]);
  const ledger = await readLines<LedgerLine>(files[1]);
  return { ...check(history, ledger), history, ledger, files };
}
