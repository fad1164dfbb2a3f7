import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { createCommandLineParser } from '../../src/cli/program';
import { temporaryLog, writeLog } from '../audit/support/files';
import { CHECKOUT } from '../support/program';
import { run } from './support/run';

const nothing = async (): Promise<void> => undefined;
const terminal = { print: () => undefined, printMessage: () => undefined };
const program = createCommandLineParser(terminal, () => nothing);

const pathsOf = (command: Command, before: string[] = []): string[][] =>
  command.commands.flatMap((each) => {
    const here = [...before, each.name()];
    return [here, ...pathsOf(each, here)];
  });
const PATHS = pathsOf(program);

const { version } = JSON.parse(readFileSync(path.join(CHECKOUT, 'package.json'), 'utf8')) as {
  version: string;
};

describe('The usage text', () => {
  test.each(PATHS.map((words) => [words.join(' '), words]))('is shown by %s --help', async (name, words) => {
    const { code, out, err } = await run([...words, '--help']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(new RegExp(`^Usage: paygraph ${name} `));
    if (words.length === 1) expect(out.split('Examples:\n')[1]).toContain(`paygraph ${name}`);
  });

  test.each([[[]], [['attempts']]])('is shown for an incomplete command (exit code 2): %j', async (args) => {
    const { code, out, err } = await run(args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain((await run([...args, '--help'])).out.trim());
  });
});

test('The option --version prints only the version', async () => {
  expect(await run(['--version'])).toEqual({ code: 0, out: `${version}\n`, err: '' });
});

test.each<[args: string[], names: RegExp]>([
  [['strat'], /'strat'[^]*\bstart\?/],
  [['audit', 'verify', '--exepct', 'x'], /'--exepct'[^]*--expect\?/],
  [['attempts', 'show'], /'attempt'/],
  [['client-key', 'rotate', 'shop'], /--file/],
])('A mistyped command line exits with 2 and names the mistake: %j', async (args, names) => {
  const { code, out, err } = await run(args);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toMatch(names);
  expect(err).toContain('paygraph <command> --help');
  expect(err).not.toMatch(/^\s+at /m);
});

test('The progress of a command is shown only on a terminal, and erased at the end', async () => {
  const file = temporaryLog();
  await writeLog(file, 'a', 'b');
  const shown = await run(['audit', 'verify', file], {}, true);
  const hidden = await run(['audit', 'verify', file]);
  expect(shown.err).toMatch(/^\r\u001b\[K\S+audit\.log: \d+ %[^]*\r\u001b\[K$/);
  expect(hidden).toEqual({ ...shown, err: '' });
});
