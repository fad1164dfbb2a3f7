import process from 'node:process';
import { pino, type Logger } from 'pino';

/** Size in bytes at which buffered lines are written. One write per line would cost more than the rest of logging. */
const FLUSH_AT_BYTES = 2048;
const FLUSH_EVERY_MS = 100;
/**
 * Maximum size in bytes of the lines that are kept while they cannot be written, for example because the disk is full.
 * Further lines are lost.
 */
const MAX_BUFFERED_BYTES = 1024 * 1024;
const WARN_LEVEL = 40;

/** Creates a log of JSON lines on stdout. Writes warnings and errors immediately, others within 100 ms or at exit. */
export function createLog(level: string): Logger {
  const destination = pino.destination({
    fd: 1,
    sync: true,
    minLength: FLUSH_AT_BYTES,
    periodicFlush: FLUSH_EVERY_MS,
    maxLength: MAX_BUFFERED_BYTES,
  });
  // Ignore write errors, such as EPIPE or a full disk, because an unhandled error event would end the process.
  destination.on('error', () => undefined);
  // With `sync: true`, flush() is synchronous. Do not use flushSync(): it retries forever if nobody reads the pipe.
  process.on('exit', () => destination.flush());
  return pino(
    {
      level,
      base: { pid: process.pid },
      hooks: {
        logMethod(logArguments, writeLine, lineLevel) {
          writeLine.apply(this, logArguments);
          if (lineLevel >= WARN_LEVEL) destination.flush();
        },
      },
    },
    destination,
  );
}
