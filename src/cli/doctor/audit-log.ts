import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import path from 'node:path';
import { hashOf, isCutOff, readLine, type AuditLine } from '../../observability/audit/line';
import { failed, ok, wordOf, type Check, type Finding } from './check';
import { isFolderForFiles, isWritable, nearestExistingParent, freeDiskSpace } from './filesystem';

/** Some hundred lines: enough to see that the end was not touched, and read in no time. */
const TAIL_BYTES = 256 * 1024;

/** Whether the audit log can be written, and its last lines hang together. `paygraph audit verify` checks all of it. */
export const auditLog: Check = {
  name: 'audit log',
  run: ({ config }) => {
    const file = path.resolve(config.auditFile);
    if (!existsSync(file)) return [notThere(file)];
    const findings = [
      isWritable(file) ? ok(`${file} can be written.`) : notWritable(file),
      freeDiskSpace(path.dirname(file)),
    ];
    try {
      return [...findings, judgeTail(file, config.auditKey?.reveal() ?? null)];
    } catch (error) {
      return [...findings, failed(`${file} cannot be read (${wordOf(error)}).`, OWN)];
    }
  },
};

const OWN =
  'AUDIT_LOG_FILE has to name a file that the user of the gateway may read and write; the gateway does not start otherwise.';

const notWritable = (place: string): Finding => failed(`${place} cannot be written.`, OWN);

function notThere(file: string): Finding {
  const above = nearestExistingParent(file);
  // The gateway makes one folder, and no more.
  const isNear = [path.dirname(file), path.dirname(path.dirname(file))].includes(above);
  if (!isNear) return failed(`The folder of ${file} is not there.`, `mkdir -p ${path.dirname(file)}`);
  return isFolderForFiles(above) ? ok(`${file} is not there yet: the gateway makes it.`) : notWritable(above);
}

function judgeTail(file: string, key: string | null): Finding {
  const { texts, isWhole } = tailOf(file);
  // The first line may lack its beginning.
  const lines = isWhole ? texts : texts.slice(1);
  const faults = faultsIn(lines, key);
  if (faults === 0) return ok(`The last ${lines.length} lines of the audit log are as they were written.`);
  return failed(
    `Of the last ${lines.length} lines of the audit log ${faults} were changed, or lines before them are missing.`,
    'paygraph audit verify says which. Keep the file as it is, and find out who wrote to it (docs/audit-log.md).',
  );
}

function tailOf(file: string): { texts: string[]; isWhole: boolean } {
  const { size } = statSync(file);
  const start = Math.max(0, size - TAIL_BYTES);
  const buffer = Buffer.alloc(Math.min(size, TAIL_BYTES));
  const fd = openSync(file, 'r');
  try {
    const read = readSync(fd, buffer, 0, buffer.length, start);
    // What follows the last end of a line is still being written.
    const texts = buffer.toString('latin1', 0, read).split('\n').slice(0, -1);
    return { texts, isWhole: start === 0 };
  } finally {
    closeSync(fd);
  }
}

/** Number of lines that do not follow the line before them. */
function faultsIn(texts: readonly string[], key: string | null): number {
  let previous: AuditLine | undefined;
  let faults = 0;
  for (const text of texts) {
    const line = readLine(text);
    if (!line) {
      faults += isCutOff(text) ? 0 : 1;
      continue;
    }
    if (previous && !follows(line, previous, key)) faults += 1;
    previous = line;
  }
  return faults;
}

const follows = (line: AuditLine, previous: AuditLine, key: string | null): boolean =>
  line.seq === previous.seq + 1 && hashOf(previous.hash, line.body, key) === line.hash;
