import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, renameSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import os from 'node:os';
import path from 'node:path';
import { NOTHING, chained } from '../../src/audit/chain';
import { run as runHere, type Ran } from '../cli/support/run';
import {
  entry,
  linesOf,
  openLog,
  putLines,
  temporaryFolder,
  temporaryLog,
  writeChain,
} from './support/files';
import { OtherProcess } from './support/other-process';

const CHECKOUT = path.resolve(__dirname, '../..');
const AS_NPM_RUNS_IT = [path.join(CHECKOUT, 'bin/paygraph.mjs'), 'audit'];

const run = (args: readonly string[]): Promise<Ran> => runHere(['audit', ...args]);

interface Where {
  cwd?: string;
  env?: Record<string, string>;
  options?: readonly string[];
}

/** `npm run audit -- …` as a process of its own. */
async function runProgram(args: readonly string[], { cwd, env, options = [] }: Where = {}): Promise<Ran> {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, [...options, ...AS_NPM_RUNS_IT, ...args], {
    cwd,
    env: { PATH, HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close') as Promise<[number | null]>;
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, out, err };
}

const sealIn = (out: string): string => /seal +([0-9a-f]{64})/.exec(out)?.[1] ?? 'no seal';

test('npm run audit -- verify says what a whole log holds, and exits with 0', async () => {
  const file = temporaryLog();
  await writeChain(file, 'a', 'b');
  const { code, out, err } = await runProgram(['verify', file]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const [first, last] = [linesOf(file)[0], linesOf(file).at(-1)].map(
    (line) => (JSON.parse(line!) as { time: string }).time,
  );
  expect(out).toContain('1 chain (one for each process that wrote), 1 of them closed.');
  expect(out).toContain(`${file}: 4 lines, 2 of them calls\n`);
  expect(out).toContain(`first line  ${first}\n`);
  expect(out).toContain(`last line   ${last}\n`);
  expect(out).toMatch(/seal {8}[0-9a-f]{64}\n/);
  expect(out).toMatch(/Nothing is missing or changed\.\n$/);
});

test('it says which lines are wrong, and exits with 1', async () => {
  const file = temporaryLog();
  await writeChain(file, 'a', 'b', 'c', 'd');
  const lines = linesOf(file);
  putLines(file, [...lines.with(1, lines[1]!.replace('10000.00', '90000.00')).toSpliced(3, 1)]);
  const { code, out } = await run(['verify', file]);
  expect(code).toBe(1);
  expect(out).toMatch(/FAULT .*audit\.log, line 2: this line was changed/);
  expect(out).toMatch(/FAULT .*audit\.log, line 4: 1 line of chain [0-9a-f]{8} before this one is missing\./);
  expect(out).toMatch(/THE AUDIT LOG WAS CHANGED: 2 faults\.\n$/);
});

test('with --expect it fails when lines before the seal are gone', async () => {
  const file = temporaryLog();
  await writeChain(file, 'a', 'b');
  const seal = sealIn((await run(['verify', file])).out);
  await writeChain(file, 'c');
  expect(await run(['verify', file, '--expect', seal])).toMatchObject({ code: 0 });
  const earlier = linesOf(file).slice(0, 3);
  putLines(file, earlier);
  const { code, out } = await run(['verify', '--expect', seal.toUpperCase(), file]);
  expect(code).toBe(1);
  expect(out).toContain(`FAULT  ${seal} was expected and is not there`);
  expect((await run(['verify', file])).code).toBe(0);
});

test('without a file it checks the one of the settings, or data/audit.log', async () => {
  const folder = temporaryFolder();
  const env = { AUDIT_LOG_FILE: path.join(folder, 'elsewhere.log') };
  await writeChain(env.AUDIT_LOG_FILE, 'a');
  await writeChain(path.join(folder, 'data', 'audit.log'), 'a', 'b', 'c');
  expect((await runHere(['audit', 'verify'], env)).out).toContain('elsewhere.log: 3 lines');
  expect((await runProgram(['verify'], { cwd: folder })).out).toContain('data/audit.log: 5 lines');
});

test('several files are checked in their order, and a seal is found in any of them', async () => {
  const file = temporaryLog();
  const { log } = openLog(file);
  log.record(entry());
  renameSync(file, `${file}.1`);
  log.record(entry());
  await log.close();
  const seal = sealIn((await run(['verify', `${file}.1`])).out);
  const { code, out } = await run(['verify', `${file}.1`, file, '--expect', seal]);
  expect(code).toBe(0);
  expect(out).toContain('2 chains');
  expect(out).toContain('audit.log.1: 3 lines, 1 of them calls');
  expect(out).toContain('audit.log: 3 lines, 1 of them calls');
  const wrong = await run(['verify', file, `${file}.1`]);
  expect(wrong.code).toBe(1);
  expect(wrong.out).toContain('the files are not in their order');
});

test('a chain without an end is no fault: its process is running, or has died', async () => {
  const file = temporaryLog();
  const process = await OtherProcess.start(file);
  await process.record(entry());
  const running = await run(['verify', file]);
  expect(running.code).toBe(0);
  expect(running.out).toMatch(
    /note .* chain [0-9a-f]{8} \(process \d+ on .*\) is open: its process is running\./,
  );
  await process.kill();
  const dead = await run(['verify', file]);
  expect(dead.code).toBe(0);
  expect(dead.out).toMatch(/note .* chain [0-9a-f]{8} \(process \d+ on .*\) ended without closing\./);
  expect(dead.out).toContain('0 of them closed');
});

test('a crash in the middle of a line is a note, not a fault', async () => {
  const file = temporaryLog();
  openLog(file).log.record(entry());
  writeFileSync(file, linesOf(file)[1]!.slice(0, 80), { flag: 'a' });
  const { code, out } = await run(['verify', file]);
  expect(code).toBe(0);
  expect(out).toMatch(/note .* line 3: the writing of this line was cut off/);
});

test('a file of something else has as many faults as lines, and prints none of its content', async () => {
  const file = temporaryLog();
  writeFileSync(file, '\u001b[31mnothing of ours 4111111111111111\n'.repeat(3000));
  const { code, out } = await run(['verify', file]);
  expect(code).toBe(1);
  expect(out).toContain('line 20: this is no line of an audit log.');
  expect(out).toContain('and 2980 more faults');
  expect(out).toContain('3000 faults');
  expect(out).not.toMatch(/nothing of ours|\u001b/);
});

test('an empty file is no fault by itself', async () => {
  const file = temporaryLog();
  writeFileSync(file, '');
  const { code, out } = await run(['verify', file]);
  expect(code).toBe(0);
  expect(out).toContain('audit.log: no lines');
});

test.each<[args: string[], says: string]>([
  [['verify', '/nowhere/audit.log'], '/nowhere/audit.log cannot be read (ENOENT).'],
  [['verify', os.tmpdir()], 'cannot be read (EISDIR).'],
  [[], 'Usage: paygraph audit'],
  [['check'], "Unknown command 'check'"],
  [['verify', '--expect', 'abc'], '--expect: expected 64 hexadecimal digits.'],
  [['verify', '--sure'], "Unknown option '--sure'"],
])('what cannot be done exits with 2 and says why: %j', async (args, says) => {
  const { code, out, err } = await run(args);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toContain(says);
});

test('--help says how it is used', async () => {
  const { code, out } = await run(['--help']);
  expect(code).toBe(0);
  expect(out).toContain('paygraph audit verify');
});

test('--json says the same to scripts', async () => {
  const file = temporaryLog();
  await writeChain(file, 'a', 'b');
  const good = await run(['verify', file, '--json']);
  expect(good.code).toBe(0);
  expect(JSON.parse(good.out)).toMatchObject({
    isWhole: true,
    faults: 0,
    findings: [],
    chains: { total: 1, open: [] },
    files: [{ name: file, lines: 4, calls: 2, seal: expect.stringMatching(/^[0-9a-f]{64}$/) }],
  });
  putLines(file, linesOf(file).toSpliced(2, 1));
  const seal = 'a'.repeat(64);
  const bad = await run(['verify', file, '--json', '--expect', seal]);
  expect(bad.code).toBe(1);
  expect(JSON.parse(bad.out)).toMatchObject({
    isWhole: false,
    faults: 2,
    findings: [{ isFault: true, file, line: 3, says: expect.stringContaining('is missing') }],
    missingSeals: [seal],
  });
});

test('a log of many lines is checked in little memory', async () => {
  const file = temporaryLog();
  const writing = createWriteStream(file);
  const about = '"audit":1,"time":"2026-01-01T00:00:00.000Z","chain":"0123456789abcdef"';
  let previous = NOTHING;
  for (let seq = 0; seq < 60_000; seq += 1) {
    const event = seq === 0 ? 'opened' : 'call';
    const { line, hash } = chained(
      `{${about},"seq":${seq},"event":"${event}","key":"${'x'.repeat(1500)}"}`,
      previous,
    );
    previous = hash;
    if (!writing.write(line)) await once(writing, 'drain');
  }
  writing.end();
  await once(writing, 'close');
  // The file has 100 MB, and the program may have 64.
  const { code, out, err } = await runProgram(['verify', file], { options: ['--max-old-space-size=64'] });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toContain('60000 lines, 59999 of them calls');
});
