import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { commandLine } from '../../src/cli/program';
import { CHECKOUT } from '../gateway/fixtures/program';
import { run } from './support/run';

const nothing = async (): Promise<void> => undefined;
const program = commandLine(
  { print: () => undefined, say: () => undefined },
  { ends: nothing, serves: nothing },
);

const pathsOf = (command: Command, before: string[] = []): string[][] =>
  command.commands.flatMap((each) => {
    const here = [...before, each.name()];
    return [here, ...pathsOf(each, here)];
  });
const PATHS = pathsOf(program);
const TOP = program.commands.map((command) => command.name());

const { scripts, version } = JSON.parse(readFileSync(path.join(CHECKOUT, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
  version: string;
};

test('every command has an npm script of its name, and every such script is a command', () => {
  const run = Object.entries(scripts).flatMap(([name, text]) => {
    const [, command] = /^exec node (?:--\S+ )?bin\/paygraph\.mjs(?: (\S+))?$/.exec(text) ?? [];
    return command === undefined ? [] : [[name, command]];
  });
  expect(run.map(([name]) => name).sort()).toEqual([...TOP].sort());
  for (const [name, command] of run) expect(command).toBe(name);
});

describe('Help', () => {
  test.each(PATHS.map((words) => [words.join(' '), words]))(
    'of %s says how it is used',
    async (name, words) => {
      const { code, out, err } = await run([...words, '--help']);
      expect({ code, err }).toEqual({ code: 0, err: '' });
      expect(out).toMatch(new RegExp(`^Usage: paygraph ${name} `));
      expect(out).not.toMatch(/.{101}/);
    },
  );

  test.each(TOP)('of %s has an example that names it', async (name) => {
    const { out } = await run([name, '--help']);
    expect(out.split('Examples:\n')[1]).toContain(`paygraph ${name}`);
  });

  test('is there by "help <command>", too', async () => {
    expect(await run(['help', 'audit'])).toEqual(await run(['audit', '--help']));
  });

  test('of all names every command and the exit codes', async () => {
    const { code, out, err } = await run(['--help']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    for (const name of TOP) expect(out).toMatch(new RegExp(`^  ${name} `, 'm'));
    for (const exit of [0, 1, 2, 130]) expect(out).toMatch(new RegExp(`^  ${exit} `, 'm'));
  });

  test.each([[[]], [['attempts']], [['client-key']], [['audit']]])(
    'is said, with exit code 2, where nothing is asked: %j',
    async (args) => {
      const { code, out, err } = await run(args);
      expect({ code, out }).toEqual({ code: 2, out: '' });
      expect(err).toContain((await run([...args, '--help'])).out.trim());
    },
  );
});

test('--version prints the version and nothing else', async () => {
  expect(await run(['--version'])).toEqual({ code: 0, out: `${version}\n`, err: '' });
});

test.each<[args: string[], says: string]>([
  [['strat'], "Unknown command 'strat'\n(Did you mean start?)"],
  [['doktor'], '(Did you mean doctor?)'],
  [['attempts', 'lits'], '(Did you mean list?)'],
  [['audit', 'verify', '--exepct', 'x'], "Unknown option '--exepct'\n(Did you mean --expect?)"],
  [['start', '--port', '80'], "Unknown option '--port'"],
  [['migrate', 'everything'], "Too many arguments for 'migrate'. Expected 0 arguments but got 1"],
  [['attempts', 'show'], "Missing required argument 'attempt'"],
  [['client-key', 'rotate', 'shop'], "Required option '--file <clients.json>' not specified"],
  [['doctor', '--channel', 'mine'], '--channel: expected the UUID of a channel.'],
])('what is typed wrongly is named, and the exit code is 2: %j', async (args, says) => {
  const { code, out, err } = await run(args);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toContain(says);
  expect(err).toContain('paygraph <command> --help');
  expect(err).not.toMatch(/^\s+at /m);
});
