import process from 'node:process';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** How many sockets this process has open, on either side of a connection. */
export const openSockets = (): number =>
  process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** How much memory objects take that are still in use, in megabytes. */
export function heapInUse(): number {
  collect();
  collect();
  return process.memoryUsage().heapUsed / 1024 / 1024;
}
