// npm run model -- [--quick] [--only <text>] [--trails <folder>]
//
// Checks the Promela models of this folder with Spin (README.md). Each row of the table is one exhaustive run:
//   holds   a property of the protocol; Spin must find no violation
//   fails   a false claim ("this is never reached"), a mutated protocol, or a protocol without one of its assumptions; Spin must
//           find a violation, which shows that the model reaches the case and that its properties notice it
// --quick runs a few that take seconds, mostly of the compiler. --only runs those whose name contains the text.
// --trails writes the steps of each violation to a file.
// Exit codes: 0 every result is the expected one, 1 otherwise, 2 spin or gcc is missing.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { readOptions } from '../scripts/options.mjs';

const FOLDER = import.meta.dirname;
const TIME_LIMIT_MS = 600_000;
const MEMORY_LIMIT_MB = 4000;
const MAX_DEPTH = 1_000_000;
/** Maximum depth of a search depth first whose violation is written as a trail, so that the trail is short. */
const MAX_TRAIL_DEPTH = 200;

const { values: options } = readOptions({
  options: { quick: { type: 'boolean' }, only: { type: 'string' }, trails: { type: 'string' } },
});

/** One call of each caller. */
const ONE_CALL = ['CALLS_0=1'];
const NO_CRASH = ['CRASHES=0'];
const STANDBY_LOSES = [...ONE_CALL, ...NO_CRASH, 'DATABASE=3'];

const holds = (name, defines, more = {}) => ({ name, model: 'create', defines, expected: 'holds', ...more });
const fails = (name, defines, more = {}) => ({ name, model: 'create', defines, expected: 'fails', ...more });
const never = (what, defines, more = {}) =>
  fails(`never: ${what.replaceAll('_', ' ')}`, [`NEVER_${what}=1`, ...defines], more);
const payout = { model: 'payout' };
const unknownIsSettled = { claim: 'unknown_is_settled' };
const callsEnd = { claim: 'calls_end' };
/** Too many states to search them breadth first. */
const LARGE = { isLarge: true };

const RUNS = [
  holds('create: at most once; two callers, an instance killed', ONE_CALL),
  holds('… no instance killed', [...ONE_CALL, ...NO_CRASH], { quick: true }),
  holds('… and a caller that repeats its call', []),
  holds('… prompt processes, a service that lags for the whole settling time', [...ONE_CALL, 'PROMPT']),
  holds('… a rejected signature, purge', [...NO_CRASH, 'RESENDS=1', 'PURGES=1']),
  holds('… the database restarts, unsynced outcomes lost', [...ONE_CALL, 'DATABASE=1']),
  holds('… failover, unsynced outcomes lost', [...ONE_CALL, ...NO_CRASH, 'DATABASE=2']),
  holds('… failover, synced attempts lost', STANDBY_LOSES),
  holds('… a paused instance, outcomes recorded late', [...ONE_CALL, ...NO_CRASH, 'STALLS=1', 'OUTAGES=1']),
  holds('… lookups without answer', [...ONE_CALL, ...NO_CRASH, 'LOOKUP_ERRORS=2']),
  holds('payout: at most once, never released, nobody else’s payout', [], { ...payout, quick: true }),
  holds('every unknown payment is settled', [...ONE_CALL, ...NO_CRASH, 'LIVE'], unknownIsSettled),
  holds('… an instance killed', [...ONE_CALL, 'LIVE'], unknownIsSettled),
  holds('… failover, synced attempts lost', [...STANDBY_LOSES, 'LIVE'], unknownIsSettled),
  holds('every call ends', [...ONE_CALL, ...NO_CRASH, 'LIVE'], callsEnd),
  holds('… an instance killed', [...ONE_CALL, 'LIVE'], callsEnd),
  holds('… failover, synced attempts lost', [...STANDBY_LOSES, 'LIVE'], callsEnd),

  never('recovered_by_lookup', ONE_CALL),
  never('replayed', ONE_CALL),
  never('released_by_lookups', ONE_CALL),
  never('retried_after_release', ONE_CALL),
  never('taken_over', ONE_CALL),
  never('resent', [...ONE_CALL, 'RESENDS=1']),
  never('fence_while_in_flight', STANDBY_LOSES),
  never('inserted_again', STANDBY_LOSES),
  never('lost_replayed', [...ONE_CALL, 'DATABASE=3'], LARGE),
  never('found_by_recovery', [], { ...payout, quick: true }),
  never('external_id_taken', [], payout),

  fails('mutation: sent before it is in the journal', [...ONE_CALL, 'MUT_SEND_FIRST']),
  fails('mutation: the attempt is not synced', [...ONE_CALL, 'MUT_UNSYNCED', 'DATABASE=1']),
  fails('mutation: no lease, an attempt in progress is sent by another', [...ONE_CALL, 'MUT_NO_LEASE']),
  fails(
    'mutation: the lease of a dead instance never ends',
    [...ONE_CALL, 'MUT_LEASE_NEVER_ENDS', 'LIVE'],
    unknownIsSettled,
  ),
  fails(
    'mutation: a call waits for its response without a time limit',
    [...ONE_CALL, 'MUT_NO_TIMEOUT', 'LIVE'],
    callsEnd,
  ),
  fails('mutation: a lost response counts as not sent', [...ONE_CALL, 'MUT_TIMEOUT_IS_NOT_SENT']),
  fails('mutation: a POST is repeated after a lost response', [...ONE_CALL, 'MUT_RETRY_POST']),
  fails('mutation: released after one absence', [...ONE_CALL, 'MUT_ONE_ABSENCE'], { quick: true }),
  fails('mutation: settling time too short', [...ONE_CALL, 'MUT_SHORT_SETTLE', 'PROMPT']),
  fails('mutation: lookups before sendUntil count', [...ONE_CALL, 'MUT_COUNT_EARLY', 'PROMPT']),
  fails('mutation: unknown attempts are purged', [...ONE_CALL, 'MUT_PURGE_UNKNOWN']),
  fails(
    'mutation: sent again after a 401 without asking the journal',
    [...ONE_CALL, 'MUT_RESEND_UNCHECKED', 'RESENDS=1', 'STALLS=1'],
    LARGE,
  ),
  fails('mutation: fence off', [...ONE_CALL, 'MUT_FENCE_OFF', 'DATABASE=3']),
  fails('mutation: creates in flight are not written again', [
    ...ONE_CALL,
    'MUT_NOT_INSERTED_AGAIN',
    'DATABASE=3',
  ]),
  fails('mutation: the insert does not compare the fence', [
    ...ONE_CALL,
    'MUT_FENCE_NOT_COMPARED',
    'DATABASE=3',
  ]),
  fails('mutation: payout without preflight', ['MUT_NO_PREFLIGHT'], { ...payout, quick: true }),
  fails('mutation: payout without reservation', ['MUT_NO_RESERVATION'], payout),
  fails('mutation: payout released after an absence', ['MUT_RELEASED'], payout),

  fails('limit: an instance does not notice the fence for two seconds', [
    ...ONE_CALL,
    'UNNOTICED',
    'DATABASE=3',
  ]),
  fails('limit: a create is shown later than the fence settles', [...ONE_CALL, 'SHOWN_LATE', 'DATABASE=3']),
  fails('limit: a machine is suspended before it signs a second time', [
    ...ONE_CALL,
    ...NO_CRASH,
    'LATE_RESEND',
    'RESENDS=1',
    'STALLS=1',
  ]),
  fails('limit: a key is used again after its retention', [...ONE_CALL, 'EARLY_PURGE']),
  fails('limit: the preflight misses an earlier payout', ['LAGGING_PREFLIGHT'], payout),
];

/** Runs a program in a folder. Returns its output; throws if it cannot be run. */
function run(program, args, cwd) {
  const { stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    timeout: TIME_LIMIT_MS,
    maxBuffer: 2 ** 28,
  });
  if (error) throw error;
  return stdout + stderr;
}

function lacking() {
  return ['spin', 'gcc'].filter((program) => spawnSync('which', [program]).status !== 0);
}

const number = (text, pattern) => Number(pattern.exec(text)?.[1] ?? NaN);

/** Checks one run in a folder of its own. Returns what Spin reports. */
function check({ name, model, defines, claim, expected, quick, isLarge }) {
  const folder = mkdtempSync(path.join(tmpdir(), 'model-'));
  try {
    const flags = defines.map((define) => `-D${define}`);
    const source = path.join(FOLDER, `${model}.pml`);
    const generated = run('spin', [...flags, '-a', source], folder);
    const writesTrail = options.trails !== undefined && expected === 'fails';
    // Breadth first, a trail is the shortest one.
    const order = writesTrail && !isLarge ? ['-DBFS'] : [];
    const kind = claim ? ['-DNFAIR=4'] : ['-DSAFETY', '-DNOFAIR', '-DNOCLAIM', ...order];
    const compile = [
      expected === 'holds' && !quick ? '-O2' : '-O0',
      '-w',
      '-DCOLLAPSE',
      `-DMEMLIM=${MEMORY_LIMIT_MB}`,
      ...kind,
      '-o',
      'pan',
      'pan.c',
    ];
    const compiled = run('gcc', compile, folder);
    const search = claim ? ['-a', '-f', '-N', claim] : [];
    const depth = writesTrail && isLarge ? MAX_TRAIL_DEPTH : MAX_DEPTH;
    const output = run('./pan', [`-m${depth}`, '-w24', '-n', ...search], folder);
    if (!output.includes('errors: ')) throw new Error(`${generated}${compiled}${output.slice(-2000)}`);
    if (/max search depth too small|Search not completed/.test(output) && !/errors: [1-9]/.test(output))
      throw new Error(output.slice(0, 2000));
    const found = /^pan:1: (.*)/m.exec(output)?.[1] ?? '';
    if (options.trails && found) {
      mkdirSync(options.trails, { recursive: true });
      const steps = run('spin', [...flags, '-t', '-p', '-k', `${model}.pml.trail`, source], folder);
      writeFileSync(path.join(options.trails, `${name.replaceAll(/\W+/g, '-')}.txt`), steps);
    }
    return {
      result: number(output, /errors: (\d+)/) === 0 ? 'holds' : 'fails',
      found,
      states: number(output, /([\d.e+]+) states, stored/),
      depth: number(output, /depth reached (\d+)/),
      megabytes: Math.round(number(output, /([\d.]+)\s+total actual memory/)),
      seconds: number(output, /elapsed time ([\d.]+)/),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const missing = lacking();
if (missing.length > 0) {
  console.error(`${missing.join(' and ')} not found: apt-get install spin gcc libc6-dev`);
  process.exit(2);
}

let surprises = 0;
const wanted = RUNS.filter(
  ({ name, quick }) => (!options.quick || quick) && name.includes(options.only ?? ''),
);
console.log('| property or false claim | expected | result | states | depth | MB | seconds |');
console.log('| --- | --- | --- | ---: | ---: | ---: | ---: |');
for (const each of wanted) {
  const { result, found, states, depth, megabytes, seconds } = check(each);
  const isExpected = result === each.expected && !found.startsWith('invalid end state');
  if (!isExpected) surprises += 1;
  const cells = [each.name, each.expected, isExpected ? result : `SURPRISE: ${result} ${found}`];
  console.log(`| ${[...cells, states, depth, megabytes, seconds].join(' | ')} |`);
}
console.log(`${wanted.length} runs, ${surprises} with a surprise`);
process.exit(surprises === 0 && wanted.length > 0 ? 0 : 1);
