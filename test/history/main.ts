import { checkFiles, print } from './check-files';

/** Resolves with the exit code: 0 without violations, 1 with some, 2 for wrong arguments. */
export async function main(args: string[]): Promise<number> {
  const [historyFile, ledgerFile] = args;
  if (historyFile === undefined || ledgerFile === undefined) {
    process.stdout.write('Usage: npm run check-history -- <history.jsonl> <ledger.jsonl>\n');
    return 2;
  }
  const judged = await checkFiles(historyFile, ledgerFile);
  print(judged);
  return judged.violations.length === 0 ? 0 : 1;
}
