// Lints texts as if they were in the given files, only with the rules about layers, which need no types.
// Reads [{ file, text }] from standard input, and prints the rule ids for each text as JSON.
import { text as readText } from 'node:stream/consumers';
import process from 'node:process';
import { ESLint, Linter } from 'eslint';

const RULES = ['no-restricted-imports', 'no-restricted-properties'];
const eslint = new ESLint();
const linter = new Linter();
const results = [];
for (const { file, text } of JSON.parse(await readText(process.stdin))) {
  const config = await eslint.calculateConfigForFile(file);
  const rules = Object.fromEntries(RULES.map((rule) => [rule, config.rules[rule] ?? 'off']));
  results.push(linter.verify(text, [{ rules }]).map(({ ruleId }) => ruleId));
}
process.stdout.write(JSON.stringify(results));
