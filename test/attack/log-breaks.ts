/** A line of a log that nobody wrote. */
const FAKE = '{"level":30,"msg":"FORGED"}';

/** What a terminal, an editor or a log shipper takes for more than text, with a line of its own behind it. */
export const LOG_BREAKS: readonly (readonly [string, string])[] = [
  ['CR LF', `x\r\n${FAKE}`],
  ['LF', `x\n${FAKE}\n`],
  ['CR', `x\r${FAKE}`],
  ['NEL (C1)', `x\u0085${FAKE}`],
  ['line separator U+2028', `x\u2028${FAKE}`],
  ['paragraph separator U+2029', `x\u2029${FAKE}`],
  ['vertical tab', `x\x0b${FAKE}`],
  ['ANSI: clear the screen', `\x1b[2J\x1b[H${FAKE}`],
  ['ANSI: title of the window', `\x1b]0;FORGED\x07`],
  ['CSI in C1', `\x9b2JFORGED`],
  ['backspaces', `FORGED${'\b'.repeat(40)}`],
  ['NUL', `x\0FORGED`],
  ['DEL', `x\x7fFORGED`],
  ['right to left', `\u202eDEGROF\u202cFORGED`],
  ['a lone surrogate', `\ud83dFORGED`],
  ['JSON that goes on', `x","level":60,"msg":"FORGED`],
];

/** Anything that is not seen as what it is; the end of the line is to be taken off before. */
const HIDDEN = /[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]/;

/** What is wrong with a line of a log: undefined where it is one JSON object without a character that hides something. */
export function faultOfLine(line: string): string | undefined {
  const text = line.replace(/\n$/, '');
  if (HIDDEN.test(text)) return 'a character that hides something';
  try {
    return typeof JSON.parse(text) === 'object' ? undefined : 'no JSON object';
  } catch {
    return 'no JSON';
  }
}
