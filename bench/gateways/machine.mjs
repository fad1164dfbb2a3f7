// CPU affinity, CPU time and memory of processes.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import os from 'node:os';
import process from 'node:process';
import { cpuMs } from '../subscriptions/clock.mjs';

/** The gateway has one core; the service, the load generator and this program share the other. */
export const GATEWAY_CORE = 1;
export const OTHER_CORE = 0;

const TICK_MS = 10;

/** Pins this process and its children to the other core. */
export function pinToOtherCore() {
  if (os.availableParallelism() < 2) throw new Error('Two CPU cores are required, one for the gateway.');
  execFileSync('taskset', ['-apc', String(OTHER_CORE), String(process.pid)], { stdio: 'ignore' });
}

/** Returns a command, with arguments, that runs the given command on the gateway's core. */
export const onGatewayCore = (command, args) => ['taskset', ['-c', String(GATEWAY_CORE), command, ...args]];

/** Maps each process id to its parent's. */
function parents() {
  const found = new Map();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
      found.set(Number(pid), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // The process has ended.
    }
  }
  return found;
}

/** Returns the ids of a process and its descendants. */
export function treeOf(pid) {
  const parentOf = parents();
  const tree = [pid];
  for (const each of tree) for (const [child, parent] of parentOf) if (parent === each) tree.push(child);
  return tree;
}

const sum = (numbers) => numbers.reduce((total, each) => total + each, 0);

/** Returns the CPU time of processes so far, in milliseconds. */
export const cpuOf = (pids) => sum(pids.map(cpuMs));

/** Returns the resident memory of processes, in megabytes. */
export const rssOf = (pids) =>
  sum(
    pids.map((pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))[1]) / 1024),
  );

/** Returns the busy time of a core since boot, in milliseconds. */
export function busyMs(core) {
  const line = readFileSync('/proc/stat', 'latin1')
    .split('\n')
    .find((each) => each.startsWith(`cpu${core} `));
  const [user, nice, system, , , interrupt, softInterrupt] = line.split(/\s+/).slice(1).map(Number);
  return (user + nice + system + interrupt + softInterrupt) * TICK_MS;
}

/** Returns one line that describes the machine. */
export function machineText() {
  const cores = os.cpus();
  return (
    `${cores.length} cores (${cores[0].model.trim()}), ${Math.round(os.totalmem() / 2 ** 30)} GB, ` +
    `${os.type()} ${os.release().split(/[-+]/)[0]}, Node.js ${process.versions.node}`
  );
}
