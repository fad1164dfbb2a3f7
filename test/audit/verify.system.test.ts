import { renameSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { run, runProgram } from '../cli/support/run';
import {
  entry,
  linesOf,
  openLog,
  putLines,
  temporaryFolder,
  temporaryLog,
  writeLog,
  startAuditProcess,
} from './support/files';

interface Report {
  code: number | null;
  out: string;
  faults: number;
  findings: object[];
  writers: { total: number; open: object[] };
  files: { name: string; lines: number; calls: number; seal?: string }[];
}

/** Runs `audit verify --json` with these arguments. */
async function verify(args: readonly string[], env: Record<string, string> = {}): Promise<Report> {
  const { code, out } = await run(['audit', 'verify', '--json', ...args], env);
  return { code, out, ...(JSON.parse(out) as Omit<Report, 'code' | 'out'>) };
}

test('audit verify prints counts, times, seal and processes of an intact log, and exits with 0', async () => {
  const file = temporaryLog();
  await writeLog(file, 'a', 'b');
  const { code, out, err } = await runProgram(['audit', 'verify', file]);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  for (const line of [linesOf(file)[0]!, linesOf(file).at(-1)!])
    expect(out).toContain((JSON.parse(line) as { time: string }).time);
  expect(out).toMatch(/seal {8}[0-9a-f]{64}\n/);
  expect(await verify([file])).toMatchObject({
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
  expect(await verify([file, '--expect', seal])).toMatchObject({
    code: 1,
    isWhole: false,
    faults: 3,
    findings: [
      { isFault: true, file, line: 2, code: 'changed' },
      { isFault: true, file, line: 4, code: 'lines_missing' },
    ],
    missingSeals: [seal],
  });
  const { code, out } = await run(['audit', 'verify', file]);
  expect(code).toBe(1);
  expect(out.match(/^FAULT .*audit\.log, line [24]: /gm)).toHaveLength(2);
});

test('audit verify without arguments checks the file of AUDIT_LOG_FILE, by default data/audit.log', async () => {
  const folder = temporaryFolder();
  const AUDIT_LOG_FILE = path.join(folder, 'elsewhere.log');
  await writeLog(AUDIT_LOG_FILE, 'a');
  await writeLog(path.join(folder, 'data', 'audit.log'), 'a', 'b', 'c');
  expect((await verify([], { AUDIT_LOG_FILE })).files).toMatchObject([{ lines: 3 }]);
  const { out } = await runProgram(['audit', 'verify', '--json'], { cwd: folder });
  expect(JSON.parse(out)).toMatchObject({ files: [{ lines: 5 }] });
});

test('audit verify accepts several files only in chronological order, and finds an expected seal in any of them', async () => {
  const file = temporaryLog();
  const { log } = openLog(file);
  log.recordMutation(entry());
  renameSync(file, `${file}.1`);
  log.recordMutation(entry());
  await log.close();
  const { seal = '' } = (await verify([`${file}.1`])).files[0]!;
  expect(await verify([`${file}.1`, file, '--expect', seal.toUpperCase()])).toMatchObject({
    code: 0,
    writers: { total: 1 },
    files: [
      { name: `${file}.1`, lines: 3, calls: 1 },
      { name: file, lines: 3, calls: 1 },
    ],
  });
  const wrong = await verify([file, `${file}.1`]);
  expect(wrong.code).toBe(1);
  expect(wrong.findings).toContainEqual(expect.objectContaining({ code: 'files_out_of_order' }));
});

test('audit verify lists a process that is running or was killed as open, and exits with 0', async () => {
  const file = temporaryLog();
  const child = await startAuditProcess(file);
  await child.call('record', [entry()]);
  const result = { code: 0, writers: { total: 1, open: [{ isClosed: false }] } };
  expect(await verify([file])).toMatchObject(result);
  await child.kill();
  expect(await verify([file])).toMatchObject(result);
});

test('audit verify fails without AUDIT_LOG_KEY if the audit log was written with that key', async () => {
  const file = temporaryLog();
  const { log } = openLog(file, null, 'the-key');
  log.recordMutation(entry());
  await log.close();
  expect(await verify([file], { AUDIT_LOG_KEY: 'the-key' })).toMatchObject({ code: 0 });
  const without = await verify([file]);
  expect(without).toMatchObject({ code: 1, findings: [{ code: 'changed' }, {}, {}] });
  expect(without.out).not.toContain('the-key');
});

test('audit verify counts each line of a file that is not an audit log as a fault, and prints none of its content', async () => {
  const file = temporaryLog();
  writeFileSync(file, '\u001b[31mnothing of ours 4111111111111111\n'.repeat(3000));
  const { code, faults, findings } = await verify([file]);
  expect({ code, faults, printed: findings.length }).toEqual({ code: 1, faults: 3000, printed: 20 });
  expect((await run(['audit', 'verify', file])).out).not.toMatch(/nothing of ours|\u001b/);
});

test.each([
  ['/nowhere/audit.log', 'ENOENT'],
  [os.tmpdir(), 'EISDIR'],
  ['--expect=abc', '--expect'],
])('audit verify %s exits with 2 and prints %s', async (arg, name) => {
  const { code, out, err } = await run(['audit', 'verify', arg]);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toContain(name);
});
