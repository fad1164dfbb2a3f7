import { closeSync, openSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { hashOf } from '../../src/observability/audit/line';
import { run as runHere, runProgram as runProcess, type ProcessOptions, type Ran } from '../cli/support/run';
import { entry, linesOf, openLog, putLines, temporaryFolder, temporaryLog, writeLog } from './support/files';
import { startAuditProcess } from './support/audit-process';

const run = (args: readonly string[]): Promise<Ran> => runHere(['audit', ...args]);

/** Runs `audit …` in a process of its own. */
const runProgram = (args: readonly string[], options?: ProcessOptions): Promise<Ran> =>
  runProcess(['audit', ...args], options);

interface Report {
  isWhole: boolean;
  faults: number;
  notes: number;
  findings: object[];
  missingSeals: string[];
  writers: { total: number; open: object[] };
  files: { name: string; lines: number; calls: number; seal?: string }[];
}

const reportOf = ({ out }: Pick<Ran, 'out'>): Report => JSON.parse(out) as Report;

/** Runs `audit verify --json` on these files. */
const verify = async (...args: string[]): Promise<Report & Ran> => {
  const ran = await run(['verify', '--json', ...args]);
  return { ...ran, ...reportOf(ran) };
};

test('audit verify prints counts, times, seal and processes of an intact log, and exits with 0', async () => {
  const file = temporaryLog();
  await writeLog(file, 'a', 'b');
  const { code, out, err } = await runProgram(['verify', file]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  for (const line of [linesOf(file)[0]!, linesOf(file).at(-1)!])
    expect(out).toContain((JSON.parse(line) as { time: string }).time);
  expect(out).toMatch(/seal {8}[0-9a-f]{64}\n/);
  expect(await verify(file)).toMatchObject({
    code: 0,
    isWhole: true,
    faults: 0,
    findings: [],
    writers: { total: 1, open: [] },
    files: [{ name: file, lines: 4, calls: 2, seal: expect.stringMatching(/^[0-9a-f]{64}$/) }],
  });
});

test('audit verify reports changed and missing lines, and exits with 1', async () => {
  const file = temporaryLog();
  await writeLog(file, 'a', 'b', 'c', 'd');
  const lines = linesOf(file);
  putLines(file, [...lines.with(1, lines[1]!.replace('10000.00', '90000.00')).toSpliced(3, 1)]);
  const seal = 'a'.repeat(64);
  expect(await verify(file, '--expect', seal)).toMatchObject({
    code: 1,
    isWhole: false,
    faults: 3,
    findings: [
      { isFault: true, file, line: 2, code: 'changed' },
      { isFault: true, file, line: 4, code: 'lines_missing' },
    ],
    missingSeals: [seal],
  });
  const { code, out } = await run(['verify', file]);
  expect(code).toBe(1);
  expect(out.match(/^FAULT .*audit\.log, line [24]: /gm)).toHaveLength(2);
});

test('audit verify without a file checks AUDIT_LOG_FILE, or data/audit.log', async () => {
  const folder = temporaryFolder();
  const env = { AUDIT_LOG_FILE: path.join(folder, 'elsewhere.log') };
  await writeLog(env.AUDIT_LOG_FILE, 'a');
  await writeLog(path.join(folder, 'data', 'audit.log'), 'a', 'b', 'c');
  expect(reportOf(await runHere(['audit', 'verify', '--json'], env)).files).toMatchObject([{ lines: 3 }]);
  expect(reportOf(await runProgram(['verify', '--json'], { cwd: folder })).files).toMatchObject([
    { lines: 5 },
  ]);
});

test('audit verify checks several files in the given order, and finds a seal in any of them', async () => {
  const file = temporaryLog();
  const { log } = openLog(file);
  log.record(entry());
  renameSync(file, `${file}.1`);
  log.record(entry());
  await log.close();
  const { seal = '' } = (await verify(`${file}.1`)).files[0]!;
  expect(await verify(`${file}.1`, file, '--expect', seal.toUpperCase())).toMatchObject({
    code: 0,
    writers: { total: 1 },
    files: [
      { name: `${file}.1`, lines: 3, calls: 1 },
      { name: file, lines: 3, calls: 1 },
    ],
  });
  const missing = 'a'.repeat(64);
  const unsealed = await verify('--expect', missing, `${file}.1`, file);
  expect(unsealed).toMatchObject({ code: 1, faults: 1, findings: [], missingSeals: [missing] });
  const wrong = await verify(file, `${file}.1`);
  expect(wrong.code).toBe(1);
  expect(wrong.findings).toContainEqual(expect.objectContaining({ code: 'files_out_of_order' }));
});

test('audit verify lists a running or killed process as open, and exits with 0', async () => {
  const file = temporaryLog();
  const child = await startAuditProcess(file);
  await child.call('record', [entry()]);
  const result = { code: 0, writers: { total: 1, open: [{ isClosed: false }] } };
  expect(await verify(file)).toMatchObject(result);
  await child.kill();
  expect(await verify(file)).toMatchObject(result);
});

test('audit verify needs AUDIT_LOG_KEY if the log was written with it', async () => {
  const file = temporaryLog();
  const { log } = openLog(file, null, 'the-key');
  log.record(entry());
  await log.close();
  expect(await runHere(['audit', 'verify', file], { AUDIT_LOG_KEY: 'the-key' })).toMatchObject({ code: 0 });
  const without = await verify(file);
  expect(without).toMatchObject({ code: 1, findings: [{ code: 'changed' }, {}, {}] });
  expect(without.out).not.toContain('the-key');
});

test('audit verify reports each line of a file that is no audit log as a fault, without its content', async () => {
  const file = temporaryLog();
  writeFileSync(file, '\u001b[31mnothing of ours 4111111111111111\n'.repeat(3000));
  const { code, faults, findings } = await verify(file);
  expect({ code, faults, printed: findings.length }).toEqual({ code: 1, faults: 3000, printed: 20 });
  expect((await run(['verify', file])).out).not.toMatch(/nothing of ours|\u001b/);
});

test.each<[args: string[], names: string[]]>([
  [['verify', '/nowhere/audit.log'], ['ENOENT']],
  [['verify', os.tmpdir()], ['EISDIR']],
  [['check'], ["'check'"]],
  [['verify', '--expect', 'abc'], ['--expect']],
])('audit exits with 2 and names the mistake in the arguments %j', async (args, names) => {
  const { code, out, err } = await run(args);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  for (const name of names) expect(err).toContain(name);
});

test('audit verify checks a log of 100 MB within 64 MB of heap', async () => {
  const file = temporaryLog();
  const writing = openSync(file, 'w');
  const about = '"audit":1,"time":"2026-01-01T00:00:00.000Z","writer":"0123456789abcdef"';
  let previous = '';
  for (let seq = 0; seq < 60_000; seq += 1) {
    const event = seq === 0 ? 'opened' : 'call';
    const body = `{${about},"seq":${seq},"event":"${event}","key":"${'x'.repeat(1500)}"`;
    previous = hashOf(previous, body, null);
    writeSync(writing, `${body},"hash":"${previous}"}\n`);
  }
  closeSync(writing);
  const { code, out, err } = await runProgram(['verify', file, '--json'], {
    nodeOptions: ['--max-old-space-size=64'],
  });
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(reportOf({ out }).files).toMatchObject([{ lines: 60_000, calls: 59_999 }]);
});
