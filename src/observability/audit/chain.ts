import { hash } from 'node:crypto';
import type { OutcomeEvent } from './entry';

/** How every line begins. It is nowhere else in a line, as quotation marks inside texts are escaped. */
export const LINE_START = '{"audit":1,';

/** What joins a line to the one before it in its chain; the first line of a chain follows on nothing. */
export const NOTHING = '';

/** A line as its chain is concerned; what it tells about a call is not looked at. */
export interface AuditLine {
  /** Names the process start that wrote it. */
  chain: string;
  /** Its place in its chain, from 0. */
  seq: number;
  event: 'opened' | 'call' | OutcomeEvent | 'closed';
  time: string;
  /** The hash of the last line that others had written to the file, where the writer saw a new one. */
  after?: string;
  /** In the first line of a chain: the chain that the same process wrote before its file was moved away. */
  continues?: { chain: string; hash: string };
  /** The file ended in the middle of a line, which the writer of this one has seen. */
  torn?: true;
  /** So many calls could not be written before this line. */
  missed?: number;
  /** In the last line of a chain: how many lines it has. */
  lines?: number;
  /** In the first line of a chain: who writes. */
  pid?: number;
  host?: string;
  /** What the hash covers beside the line before. */
  body: string;
  hash: string;
}

/** The hash of a line: over the hash of the line before it in its chain, and over every byte of its own. */
export const hashOf = (previous: string, body: string): string => hash('sha256', `${previous}\n${body}`);

/** The hash over all the lines of a file up to one: over that of the lines before it, and over its own hash. */
export const sealOf = (before: string, lineHash: string): string => hash('sha256', `${before}\n${lineHash}`);

/**
 * A JSON text in printable ASCII: whatever editors, terminals and log shippers take for the end of a line or for a
 * command stands escaped. It means the same, as such characters can be inside of strings only.
 */
export const printable = (json: string): string =>
  json.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

/** Makes a JSON object the next line of a chain. */
export function chained(json: string, previous: string): { line: string; hash: string } {
  const body = printable(json.trimEnd().slice(0, -1));
  const lineHash = hashOf(previous, body);
  return { line: `${body},"hash":"${lineHash}"}\n`, hash: lineHash };
}

const WHOLE = /^(.+),"hash":"[0-9a-f]{64}"\}$/;
const HASH = /^[0-9a-f]{64}$/;
const CHAIN = /^[0-9a-f]{16}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const EVENTS: Readonly<Record<AuditLine['event'], true>> = {
  opened: true,
  call: true,
  recovered: true,
  settled: true,
  not_settled: true,
  proposed: true,
  withdrawn: true,
  closed: true,
};

const isText = (value: unknown, shape: RegExp): boolean => typeof value === 'string' && shape.test(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isMissing = (value: unknown): boolean => value === undefined;

function isContinuation(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return 'chain' in value && isText(value.chain, CHAIN) && 'hash' in value && isText(value.hash, HASH);
}

const FIELDS: Record<keyof Omit<AuditLine, 'body'>, (value: unknown) => boolean> = {
  chain: (value) => isText(value, CHAIN),
  seq: isCount,
  event: (value) => typeof value === 'string' && Object.hasOwn(EVENTS, value),
  time: (value) => isText(value, TIME),
  after: (value) => isMissing(value) || isText(value, HASH),
  continues: (value) => isMissing(value) || isContinuation(value),
  torn: (value) => isMissing(value) || value === true,
  missed: (value) => isMissing(value) || isCount(value),
  lines: (value) => isMissing(value) || isCount(value),
  pid: (value) => isMissing(value) || isCount(value),
  host: (value) => isMissing(value) || isText(value, /^[\w.-]{1,255}$/),
  hash: (value) => isText(value, HASH),
};

const isFields = (value: object): value is Omit<AuditLine, 'body'> =>
  Object.entries(FIELDS).every(([name, fits]) => fits((value as Record<string, unknown>)[name]));

/** Understands a line, without its end; undefined where it is none, or only a part of one. */
export function readLine(text: string): AuditLine | undefined {
  const [, body] = (text.startsWith(LINE_START) && WHOLE.exec(text)) || [];
  if (body === undefined) return undefined;
  // The hash that was parsed, not a piece of the text: a piece would keep all of the text in memory.
  const value = parsed(text);
  return value && isFields(value) ? { ...value, body } : undefined;
}

function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Understands a line that may stand right behind the beginning of another: its writer was cut off, and wrote no end. */
export function readLineBehind(text: string): { line: AuditLine; cutOff: string } | undefined {
  const start = Math.max(text.lastIndexOf(LINE_START), 0);
  const line = readLine(text.slice(start));
  return line && { line, cutOff: text.slice(0, start) };
}

/** Whether a text can be what is left of a line whose writing was cut off; a power failure may leave zeros in its place. */
export function isCutOff(text: string): boolean {
  const left = text.replaceAll('\0', '');
  if (WHOLE.test(left)) return false;
  return left.startsWith(LINE_START) || LINE_START.startsWith(left);
}
