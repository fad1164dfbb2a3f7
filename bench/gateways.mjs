// `npm run bench`: cost of a request, compared with a minimal proxy (the baseline) and other gateways, with the same
// service and workload. Options: `--quick` (fewer rounds), `--only floor,paygraph` (gateways), `--works one,tiny`
// (workloads), positional `starts`, `rounds`, `memory` (parts), `--write` (updates docs/benchmarks.md).
// Peers are measured if `npm ci` was run in bench/peers. See docs/benchmarks.md.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { build, isFresh } from '../scripts/build.mjs';
import { writeDocument } from './gateways/document.mjs';
import { machineText, pinToOtherCore } from './gateways/machine.mjs';
import { measureMemory, measureRounds, measureStarts, WORKS } from './gateways/measure.mjs';
import { tables } from './gateways/report.mjs';
import { loadTargets, versions } from './gateways/targets.mjs';
import { openDisk } from './journal/disk.mjs';
import { median } from './journal/stats.mjs';
import { start } from './journal/processes.mjs';
import { readOptions } from '../scripts/options.mjs';

// The benchmark runs many short rounds, because disturbances by other programs last for seconds.
const FULL = { rounds: 15, milliseconds: 1000, warmUp: 1, starts: 5, requests: 100_000, own: 1_000_000 };
const QUICK = { rounds: 9, milliseconds: 500, warmUp: 0.25, starts: 3, requests: 10_000, own: 10_000 };
const MEMORY_PARTS = 10;
const OWN = 'paygraph';

const { values, positionals } = readOptions({
  options: {
    quick: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    saved: { type: 'boolean', default: false },
    only: { type: 'string' },
    works: { type: 'string' },
  },
  allowPositionals: true,
});
const size = values.quick ? QUICK : FULL;
const print = (text = '') => process.stdout.write(`${text}\n`);
const chosen = (names, all) => (names ? all.filter((name) => names.split(',').includes(name)) : all);

/** Returns the gateways that take part in every measurement, not only in some workloads. */
const whole = (entries) => entries.filter(({ only }) => !only);

const PARTS = {
  async starts(stage, entries) {
    return { starts: await measureStarts(stage, whole(entries), size.starts) };
  },
  async rounds(stage, entries) {
    const works = chosen(values.works, Object.keys(WORKS));
    const disk = openDisk(stage.folder);
    try {
      return await measureRounds({ ...stage, disk }, entries, { ...size, works, print });
    } finally {
      disk.close();
    }
  },
  async memory(stage, entries) {
    const memory = {};
    for (const entry of whole(entries)) {
      const requests = entry.name === OWN ? size.own : size.requests;
      memory[entry.name] = await measureMemory(stage, entry, { requests, parts: MEMORY_PARTS });
    }
    return { memory };
  },
};

async function measure(data) {
  const { gateways, hasPeers } = await loadTargets();
  if (!hasPeers) print('SKIPPED: bench/peers has no packages (npm ci there), so the peers are not measured.');
  const names = chosen(
    values.only,
    gateways.map(({ name }) => name),
  );
  const entries = gateways.filter(({ name }) => names.includes(name));
  const folder = mkdtempSync(path.join(data, 'bench-'));
  const service = await start('../gateways/service.mjs', {});
  const load = await start('../gateways/load-process.mjs', {});
  const results = {
    machine: `${machineText()}; load average before: ${os.loadavg()[0].toFixed(1)}`,
    date: new Date().toISOString().slice(0, 10),
    versions: versions(hasPeers),
    gateways: entries.map(({ name, what }) => ({ name, what })),
  };
  print(results.machine);
  try {
    for (const part of positionals.length > 0 ? positionals : Object.keys(PARTS)) {
      print(part);
      Object.assign(results, await PARTS[part]({ service, load, folder }, entries));
    }
  } finally {
    await load.stop();
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  return results;
}

/** Warns if other programs used more than 10 % of the gateways' core, because the figures are then unreliable. */
function warnOfOtherPrograms({ rounds = {} }) {
  const shares = Object.values(rounds).flatMap((ofWork) =>
    Object.values(ofWork).flatMap((each) => each.map(({ strangersPercent }) => strangersPercent)),
  );
  if (shares.length > 0 && median(shares) > 10)
    print(
      `\nOther programs used ${median(shares).toFixed(0)} % of the gateways' core (median over the runs).`,
    );
}

// The folder is on the disk of the default journal, because a temporary folder may be in memory.
const data = path.resolve(import.meta.dirname, '..', 'data');
const savedFile = path.join(data, 'bench-gateways.json');
mkdirSync(data, { recursive: true });
if (!isFresh() && !build()) process.exit(1);
pinToOtherCore();
const results = values.saved ? JSON.parse(readFileSync(savedFile, 'utf8')) : await measure(data);
writeFileSync(savedFile, JSON.stringify(results));
print();
print(tables(results));
warnOfOtherPrograms(results);
if (values.write) await writeDocument(results, path.resolve(import.meta.dirname, '..', 'docs'));
