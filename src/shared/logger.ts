import process from 'node:process';
import { pino, type Logger } from 'pino';

/** Lines are written in batches, because a write per line costs more than the rest of logging. */
const BUFFER_BYTES = 2048;
const FLUSH_MS = 100;
/** Beyond this, lines that cannot be written (full disk) are lost. */
const MAX_BUFFERED_BYTES = 1024 * 1024;
const WARN = 40;

/** Logs JSON lines on standard output: warnings and errors at once, others within 100 ms, and all of them before exit. */
export function createLog(level: string): Logger {
  const output = pino.destination({
    fd: 1,
    sync: true,
    minLength: BUFFER_BYTES,
    periodicFlush: FLUSH_MS,
    maxLength: MAX_BUFFERED_BYTES,
  });
  // Ignores EPIPE and full disks: the gateway must not stop.
  output.on('error', () => undefined);
  // flush is synchronous here. flushSync retries forever if nobody reads the pipe.
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
