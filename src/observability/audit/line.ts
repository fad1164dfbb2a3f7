import { createHmac, hash } from 'node:crypto';
import type { UnknownOutcomeEvent } from './entry';

const LINE_START = '{"audit":1,';

/** A line of the audit log, with the fields that verification uses. */
export interface AuditLine {
  /** Random id that the writing process chose when it opened the audit log. It is not the process id (`pid`). */
  writer: string;
  /** Position of the line in the chain of hashed lines, from 0. A chain continues across rotated files. */
  seq: number;
  event: 'opened' | 'call' | UnknownOutcomeEvent | 'closed';
  time: string;
  /** Only in `opened` lines: hash of the last line of the writer's previous file. Absent in the writer's first file. */
  continues?: string;
  /** True if the text before this line is a partially written line; otherwise absent. */
  torn?: true;
  /** Number of entries lost since the last written entry, not counting operator actions; absent if none were lost. */
  missed?: number;
  /** Only in `opened` lines: process id (PID) of the writer. */
  pid?: number;
  /** Only in `opened` lines: host name of the writer's machine. */
  host?: string;
  /** The text of the line before `,"hash":`. `hash` covers the hash of the previous line and this text. */
  body: string;
  hash: string;
}

/** The previous hash in the first line of a chain, which has no line before it. */
export const NO_HASH = '';

/** Returns the hash of a line: HMAC-SHA256 or, if `hmacKey` is null, SHA-256. */
export function hashLine(previousHash: string, body: string, hmacKey: string | null): string {
  const text = `${previousHash}\n${body}`;
  return hmacKey === null ? hash('sha256', text) : createHmac('sha256', hmacKey).update(text).digest('hex');
}

/**
 * Serializes a line with the current time. Escapes all but printable ASCII, because terminals interpret control
 * characters.
 * @param previousHash hash of the line before
 * @returns the line with its line feed, and its hash
 */
export function serializeLine(
  fields: object,
  previousHash: string,
  hmacKey: string | null,
): { text: string; hash: string } {
  const json = JSON.stringify({ audit: 1, time: new Date().toISOString(), ...fields });
  const body = json
    .slice(0, -1)
    .replace(/[^\x20-\x7e]/g, (codeUnit) => `\\u${codeUnit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  const lineHash = hashLine(previousHash, body, hmacKey);
  return { text: `${body},"hash":"${lineHash}"}\n`, hash: lineHash };
}

const COMPLETE_LINE_PATTERN = /^(.+),"hash":"[0-9a-f]{64}"\}$/;
const HASH_PATTERN = /^[0-9a-f]{64}$/;

const isStringMatching = (value: unknown, regex: RegExp): boolean =>
  typeof value === 'string' && regex.test(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;

/** Validators of the fields. Fields that verification only prints are validated, too: the file may be forged. */
const VALIDATOR_BY_FIELD: Record<keyof Omit<AuditLine, 'body'>, (value: unknown) => boolean> = {
  writer: (value) => isStringMatching(value, /^[0-9a-f]{16}$/),
  seq: isCount,
  event: (value) =>
    isStringMatching(value, /^(opened|call|recovered|settled|not_settled|proposed|withdrawn|closed)$/),
  time: (value) => isStringMatching(value, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  continues: (value) => value === undefined || isStringMatching(value, HASH_PATTERN),
  torn: (value) => value === undefined || value === true,
  missed: (value) => value === undefined || isCount(value),
  pid: (value) => value === undefined || isCount(value),
  host: (value) => value === undefined || isStringMatching(value, /^[\w.-]{1,255}$/),
  hash: (value) => isStringMatching(value, HASH_PATTERN),
};

/** Parses a line without its line feed. Returns undefined if it is incomplete or invalid. */
export function parseLine(text: string): AuditLine | undefined {
  const [, body] = (text.startsWith(LINE_START) && COMPLETE_LINE_PATTERN.exec(text)) || [];
  if (body === undefined) return undefined;
  try {
    const fields = JSON.parse(text) as Record<string, unknown>;
    const isValid = Object.entries(VALIDATOR_BY_FIELD).every(([name, check]) => check(fields[name]));
    return isValid ? ({ ...fields, body } as AuditLine) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a text may be a partially written line. Ignores NUL bytes, which a power failure can leave in the file. */
export function mayBePartialLine(text: string): boolean {
  const textWithoutNul = text.replaceAll('\0', '');
  if (COMPLETE_LINE_PATTERN.test(textWithoutNul)) return false;
  return textWithoutNul.startsWith(LINE_START) || LINE_START.startsWith(textWithoutNul);
}
