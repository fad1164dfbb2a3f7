// Time that all processes of one machine agree on, and the processor time that each has used.
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout } from 'node:timers/promises';

/** Not at all where there is nothing left to wait for. */
export const sleep = (ms) => (ms > 0 ? setTimeout(ms) : Promise.resolve());

/** Milliseconds by the machine's monotonic clock: comparable between processes. */
export const now = () => Number(process.hrtime.bigint()) / 1e6;

/** What Linux counts processor time in, for all that is built today. */
const TICKS_PER_SECOND = 100;

/** The processor time of a process so far, all its threads, in milliseconds. */
export function cpuMs(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The name, in brackets, may hold anything.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user, system] = [Number(fields[11]), Number(fields[12])];
  return ((user + system) * 1000) / TICKS_PER_SECOND;
}
