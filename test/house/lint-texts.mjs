// Lints texts as if they stood in the files named: [{ file, text }] on standard input, a list of rule ids for each out.
import { text as readText } from 'node:stream/consumers';
import process from 'node:process';
import { ESLint } from 'eslint';

const eslint = new ESLint();
const results = [];
for (const { file, text } of JSON.parse(await readText(process.stdin))) {
  const [result] = await eslint.lintText(text, { filePath: file });
  results.push(result.messages.map(({ ruleId }) => ruleId));
}
process.stdout.write(JSON.stringify(results));
