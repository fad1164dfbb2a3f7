import process from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export const openSockets = (): number =>
  process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Live heap size in MB. */
export function heapInUse(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed / 1024 / 1024;
}
