import { accessSync, constants, existsSync, statSync, statfsSync } from 'node:fs';
import path from 'node:path';
import { failed, ok, warning, wordOf, type Finding } from './check';

const MIB = 1024 * 1024;
/** Room for days of a busy gateway, and for an hour of one. */
const ROOM_WARNING_MIB = 1024;
const ROOM_FAILED_MIB = 64;

/** Whether the user that runs this may write there; by the system's own answer. */
export function isWritable(place: string): boolean {
  try {
    accessSync(place, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** The nearest thing above a file that is there, most often its folder; it may be a file that stands in the way. */
export function nearestExistingParent(file: string): string {
  const above = path.dirname(path.resolve(file));
  return existsSync(above) || above === path.dirname(above) ? above : nearestExistingParent(above);
}

/** Whether a file can be made in a place. */
export const isFolderForFiles = (place: string): boolean =>
  statSync(place).isDirectory() && isWritable(place);

/** How much room is left on the disk of a folder. */
export function freeDiskSpace(folder: string): Finding {
  try {
    const { bavail, bsize } = statfsSync(folder);
    const left = Math.floor((bavail * bsize) / MIB);
    const says = `${left} MiB are left on the disk of ${folder}.`;
    const mend =
      'Make room, or move it to a larger disk: when the disk is full nothing can be created or put on record.';
    if (left < ROOM_FAILED_MIB) return failed(says, mend);
    return left < ROOM_WARNING_MIB ? warning(says, mend) : ok(says);
  } catch (error) {
    return warning(
      `How much room is left on the disk of ${folder} could not be found out (${wordOf(error)}).`,
      'See to it that the disk does not run full.',
    );
  }
}
