// A clock that all processes of the machine share, and CPU time of processes.
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { setTimeout } from 'node:timers/promises';

/** Resolves after `ms` milliseconds; at once if `ms` is not positive. */
export const sleep = (ms) => (ms > 0 ? setTimeout(ms) : Promise.resolve());

/** Returns the milliseconds of the machine's monotonic clock, which are comparable between processes. */
export const now = () => Number(process.hrtime.bigint()) / 1e6;

/** Unit of CPU time in /proc (USER_HZ). */
const TICKS_PER_SECOND = 100;

/** Returns the CPU time of all threads of a process so far, in milliseconds. */
export function cpuMs(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  // The process name, in brackets, may contain any characters.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user, system] = [Number(fields[11]), Number(fields[12])];
  return ((user + system) * 1000) / TICKS_PER_SECOND;
}
