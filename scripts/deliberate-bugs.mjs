// npm run deliberate-bugs -- [--only <id,…>] [--list] [--no-baseline] [--json <file>]
//
// Mutation check: shows that the tests catch bugs that would break a promise of the gateway. Every bug in
// test/deliberate-bugs is put into a temporary copy of the working tree, one at a time, and the tests that it names are
// run there. Results:
//   caught    a test failed
//   survived  every test passed: the tests have a gap
//   error     no result: `find` does not occur exactly once, or the tests could not be run
// --list also checks that each `find` occurs exactly once, of the simulation's planted bugs too.
// Before the bugs, all the tests are run once without any: they have to pass (--no-baseline leaves that out).
// A bug is { id, promise, file, find, replace, tests, name? }:
//   promise   the promise that it breaks, as a sentence
//   file      the source file; `find` occurs in it exactly once and is replaced by `replace`
//   tests     path patterns of the test files that are expected to catch it, as few as possible
//   name      a pattern of test titles (jest -t), if running all tests of the files is slow
// Tests of the PostgreSQL journal need the server that `npm test` needs (TEST_DATABASE_URL).
// Exit codes: 0 every bug was caught, 1 otherwise.
import { execFileSync, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { readOptions } from './options.mjs';

const ROOT = path.resolve(import.meta.dirname, '..');
const FOLDER = path.join(ROOT, 'test/deliberate-bugs');
/** The time limit of a run of jest, for each of its test files. */
const TIMEOUT_PER_FILE_MS = 10 * 60 * 1000;
/** The time limit of one test. A bug may make a test wait forever: the test has to fail before the run is ended. */
const TEST_TIMEOUT_MS = 3 * 60 * 1000;

const { values: options } = readOptions({
  options: {
    only: { type: 'string' },
    list: { type: 'boolean' },
    'no-baseline': { type: 'boolean' },
    json: { type: 'string' },
  },
});

async function readBugs() {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.mjs'));
  const modules = await Promise.all(files.sort().map((name) => import(path.join(FOLDER, name))));
  const bugs = modules.flatMap((module) => module.bugs);
  const ids = bugs.map(({ id }) => id);
  const repeated = ids.find((id, place) => ids.indexOf(id) < place);
  if (repeated) throw new Error(`Two bugs have the id ${repeated}.`);
  const wanted = options.only?.split(',') ?? ids;
  const unknown = wanted.find((id) => !ids.includes(id));
  if (unknown !== undefined) throw new Error(`No bug has the id ${unknown}.`);
  return bugs.filter(({ id }) => wanted.includes(id));
}

/** Returns the text of a file with its bug. Throws unless `find` occurs exactly once. */
function withBug({ file, find, replace }, root) {
  const source = path.join(root, file);
  if (!existsSync(source)) throw new Error(`${file} does not exist`);
  const parts = readFileSync(source, 'utf8').split(find);
  if (parts.length !== 2) throw new Error(`find occurs ${parts.length - 1} times in ${file}`);
  if (find === replace) throw new Error('find and replace are the same');
  return parts.join(replace);
}

/** Copies the working tree, including files that are not committed yet. Returns the path of the copy. */
function copyWorkingTree() {
  const copy = mkdtempSync(path.join(tmpdir(), 'deliberate-bugs-'));
  const fileList = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], { cwd: ROOT });
  // Tests that start the program build dist if the sources are newer.
  const names = [...fileList.toString().split('\0'), 'dist'];
  for (const name of names.filter((each) => each !== '' && existsSync(path.join(ROOT, each))))
    cpSync(path.join(ROOT, name), path.join(copy, name), { recursive: true, preserveTimestamps: true });
  symlinkSync(path.join(ROOT, 'node_modules'), path.join(copy, 'node_modules'));
  return copy;
}

/** The process group of jest and of processes that tests start; undefined if none runs. */
let group;

function killGroup() {
  if (group === undefined) return;
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // The process group has ended.
  }
}

/** Runs jest to its end. Resolves with true when that took longer than the time limit. */
function runJest(args, cwd, limitMs) {
  const jest = spawn(process.execPath, ['node_modules/jest/bin/jest.js', ...args], {
    cwd,
    stdio: 'ignore',
    detached: true,
    // Many bugs make a test wait in vain.
    env: { ...process.env, TEST_MAX_WAIT_MS: '40000' },
  });
  group = jest.pid;
  let isTooLate = false;
  const timer = setTimeout(() => {
    isTooLate = true;
    killGroup();
  }, limitMs);
  return new Promise((resolve, reject) => {
    jest.once('error', reject);
    jest.once('exit', () => {
      clearTimeout(timer);
      // A failed test may have left programs running.
      killGroup();
      group = undefined;
      resolve(isTooLate);
    });
  });
}

/** Runs tests in the copy. Returns the titles of failed tests, and why jest could not run all of them. */
async function runTests(copy, tests, name) {
  const report = path.join(copy, 'jest-report.json');
  rmSync(report, { force: true });
  const only = name === undefined ? [] : ['-t', name];
  const limit = ['--testTimeout', String(TEST_TIMEOUT_MS)];
  const args = ['--runInBand', '--json', '--outputFile', report, ...limit, ...only, ...tests];
  const isTooLate = await runJest(args, copy, tests.length * TIMEOUT_PER_FILE_MS);
  if (!existsSync(report)) return { failed: [], fault: isTooLate ? 'time limit' : 'jest wrote no report' };
  const { testResults, numPassedTests } = JSON.parse(readFileSync(report, 'utf8'));
  const failed = testResults.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName),
  );
  const broken = testResults.find(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  );
  if (broken) return { failed, fault: `${path.relative(copy, broken.name)} cannot be run` };
  return { failed, fault: numPassedTests + failed.length === 0 ? 'no test ran' : undefined };
}

function judge({ failed, fault }) {
  if (failed.length > 0) return { result: 'caught', note: failed[0] };
  return fault === undefined ? { result: 'survived', note: '' } : { result: 'error', note: fault };
}

/** Runs the tests of a bug, file by file until one catches it. */
async function runTestsOf({ tests, name }, copy) {
  const results = [];
  for (const test of tests) {
    const result = judge(await runTests(copy, [test], name));
    if (result.result === 'caught') return result;
    results.push(result);
  }
  // A file may have no test whose title matches the pattern.
  const errors = results.filter(({ result, note }) => result === 'error' && note !== 'no test ran');
  return errors[0] ?? results.find(({ result }) => result === 'survived') ?? results[0];
}

async function tryBug(bug, copy) {
  const file = path.join(copy, bug.file);
  const original = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  const startedAt = performance.now();
  try {
    writeFileSync(file, withBug(bug, copy));
    return { ...(await runTestsOf(bug, copy)), seconds: secondsSince(startedAt) };
  } catch (error) {
    return { result: 'error', note: error.message, seconds: secondsSince(startedAt) };
  } finally {
    if (original !== undefined) writeFileSync(file, original);
  }
}

const secondsSince = (startedAt) => Math.round((performance.now() - startedAt) / 100) / 10;

/** Runs the tests of all bugs without a bug: whole files if a bug names no titles, else only the named titles. */
async function checkBaseline(bugs, copy) {
  const whole = new Set(bugs.filter(({ name }) => name === undefined).flatMap(({ tests }) => tests));
  const named = bugs.filter(
    ({ name, tests }) => name !== undefined && !tests.every((test) => whole.has(test)),
  );
  const inPart = [...new Set(named.flatMap(({ tests }) => tests))].filter((test) => !whole.has(test));
  const titles = [...new Set(named.map(({ name }) => `(${name})`))].join('|');
  const runs = [...(whole.size > 0 ? [[[...whole]]] : []), ...(inPart.length > 0 ? [[inPart, titles]] : [])];
  for (const [tests, name] of runs) {
    const { failed, fault } = await runTests(copy, tests, name);
    const why = failed.length > 0 ? `these tests fail:\n  ${failed.join('\n  ')}` : fault;
    if (why !== undefined) throw new Error(`Without any bug ${why}`);
  }
}

function printTable(results) {
  const width = Math.max(...results.map(({ id }) => id.length));
  for (const { id, result, seconds, note, promise } of results) {
    const detail = result === 'survived' ? promise : note;
    console.log(`${id.padEnd(width)}  ${result.padEnd(8)}  ${seconds.toFixed(1).padStart(6)} s  ${detail}`);
  }
  const count = (wanted) => results.filter(({ result }) => result === wanted).length;
  const counts = ['caught', 'survived', 'error'].map((each) => `${count(each)} ${each}`);
  console.log(`\n${results.length} bugs: ${counts.join(', ')}`);
}

async function runAll(bugs, copy) {
  if (!options['no-baseline']) {
    process.stderr.write('running the tests without a bug …\n');
    await checkBaseline(bugs, copy);
  }
  const results = [];
  for (const bug of bugs) {
    const tried = await tryBug(bug, copy);
    results.push({ ...bug, ...tried });
    process.stderr.write(`${results.length}/${bugs.length} ${bug.id}: ${tried.result} (${tried.note})\n`);
    if (options.json) writeFileSync(options.json, `${JSON.stringify(results, undefined, 2)}\n`);
  }
  return results;
}

async function list(bugs) {
  const { bugs: plantedBugs } = await import('../test/simulation/planted-bugs.mjs');
  for (const bug of plantedBugs) withBug(bug, ROOT);
  for (const bug of bugs) {
    const { id, promise, file, tests } = bug;
    withBug(bug, ROOT);
    console.log(`${id}\n  ${promise}\n  ${file}\n  ${tests.join(' ')}`);
  }
  console.log(`\n${bugs.length} bugs`);
}

async function main() {
  const bugs = await readBugs();
  if (options.list) return list(bugs);
  const copy = copyWorkingTree();
  process.once('exit', () => {
    killGroup();
    rmSync(copy, { recursive: true, force: true });
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
  const results = await runAll(bugs, copy);
  printTable(results);
  if (results.some(({ result }) => result !== 'caught')) process.exitCode = 1;
}

try {
  await main();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
