import process from 'node:process';
import { pino, type Logger } from 'pino';

/**
 * Lines are written together when so many bytes have come, or after so long: a write for each costs more than all else of
 * it. More bytes would not make it cheaper: all that waits is counted again with every line.
 */
const BUFFER_BYTES = 2048;
const FLUSH_MS = 100;
/** More is not kept of what cannot be written, as on a full disk: lines are lost then. */
const MOST_KEPT_BYTES = 1024 * 1024;
/** The level from which a line says that something is wrong. */
const WARN = 40;

/**
 * The program's log, as lines of JSON on standard output. What goes well is written within a tenth of a second, what does not
 * at once, and all of it before the process ends, unless it is killed.
 */
export function createLog(level: string): Logger {
  const output = pino.destination({
    fd: 1,
    sync: true,
    minLength: BUFFER_BYTES,
    periodicFlush: FLUSH_MS,
    maxLength: MOST_KEPT_BYTES,
  });
  // Who read the log may be gone, or its disk full: the gateway goes on.
  output.on('error', () => undefined);
  // Not flushSync, which tries for ever to write to a pipe that nobody reads. As the output is synchronous, so is flush.
  process.on('exit', () => output.flush());
  return pino(
    {
      level,
      base: { pid: process.pid },
      hooks: {
        logMethod(line, method, lineLevel) {
          method.apply(this, line);
          if (lineLevel >= WARN) output.flush();
        },
      },
    },
    output,
  );
}
