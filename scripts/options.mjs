import process from 'node:process';
import { parseArgs } from 'node:util';

/** Returns the options of a script, as `parseArgs` does. Ends the process with code 2 and a message if one is invalid. */
export function readOptions(config) {
  try {
    return parseArgs(config);
  } catch (error) {
    if (!error.code?.startsWith('ERR_PARSE_ARGS')) throw error;
    process.stderr.write(`${error.message}\n`);
    return process.exit(2);
  }
}
