import { createReadStream } from 'node:fs';

/** Many times the longest line that is written: of a longer one this much is kept. */
const MAX_LENGTH = 64 * 1024;

/**
 * Reads a file line by line, of whatever size it is; every byte is one character. Rejects where it cannot be read.
 * @param take gets every line; the last one may lack its end
 */
export async function readLines(file: string, take: (line: string, isEnded: boolean) => void): Promise<void> {
  let rest = '';
  for await (const chunk of createReadStream(file, 'latin1') as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n');
    rest = (lines.pop() ?? '').slice(0, MAX_LENGTH);
    for (const line of lines) take(line, true);
  }
  if (rest !== '') take(rest, false);
}
