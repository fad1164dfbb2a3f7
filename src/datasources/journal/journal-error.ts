import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { TimeoutError } from '../../shared/timeout';

/**
 * Reasons of journal errors. The key is the value of `reason` in logs and metrics, and of `journalReason` in /readyz.
 * Each entry has the message, then the error codes with this reason: SQLSTATEs, system error codes and SQLite result
 * codes. reasonOfCode() also finds the reason of some codes by a pattern.
 */
const MESSAGE_AND_CODES = {
  connection_refused: ['PostgreSQL refuses connections', 'ECONNREFUSED'],
  host_unreachable: [
    'the host of PostgreSQL cannot be resolved or reached',
    ...['ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL'],
  ],
  connection_lost: ['PostgreSQL closed the connection', 'ECONNRESET', 'EPIPE', '57P01'],
  starting_or_stopping: ['PostgreSQL is starting or shutting down', '57P02', '57P03'],
  authentication_failed: ['PostgreSQL rejects the user or password', '28P01', '28000'],
  database_missing: ['the database does not exist', '3D000'],
  permission_denied: [
    'the database user lacks privileges on the tables of the journal, or the system user lacks access to its file',
    ...['42501', 'EACCES', 'EPERM'],
  ],
  tls_failed: ['the TLS connection to PostgreSQL cannot be established', 'EPROTO'],
  too_many_connections: ['PostgreSQL has reached its connection limit', '53300'],
  read_only: ['the journal is read-only', '25006', 'EROFS', 'SQLITE_READONLY'],
  disk_full: ['no space is left on the disk of the journal', '53100', 'ENOSPC', 'EDQUOT', 'SQLITE_FULL'],
  locked: ['another process holds a lock on the journal', '55P03', 'SQLITE_BUSY', 'SQLITE_LOCKED'],
  file_replaced: ['the SQLite file was removed or replaced while the gateway had it open', 'FILE_REPLACED'],
  not_durable: [
    'PostgreSQL may lose committed data (fsync, full_page_writes or synchronous_commit is off, or the synchronous standby did not acknowledge a commit)',
    '01000',
  ],
  timeout: ['the journal does not respond in time', 'ETIMEDOUT', '57014'],
  corrupt: [
    'the journal is damaged, or the file is not a database',
    ...['SQLITE_CORRUPT', 'SQLITE_NOTADB', 'XX001', 'XX002'],
  ],
  io_error: [
    'the disk of the journal reports I/O errors, or the SQLite file cannot be opened',
    ...['58030', 'EIO', 'SQLITE_IOERR', 'SQLITE_CANTOPEN'],
  ],
  other: ['the journal failed for an unknown reason'],
} as const satisfies Record<string, readonly [message: string, ...codes: string[]]>;

export type JournalErrorReason = keyof typeof MESSAGE_AND_CODES;

/** Classification of a journal error. It is safe to log: it contains no values of settings and no driver messages. */
export interface JournalErrorInfo {
  reason: JournalErrorReason;
  /** Error code, such as a SQLSTATE, a system error code or a SQLite result code; null if the error has none. */
  code: string | null;
  /** Sentence for operators, without a full stop. */
  message: string;
}

const REASON_BY_CODE: ReadonlyMap<string, JournalErrorReason> = new Map(
  (Object.keys(MESSAGE_AND_CODES) as JournalErrorReason[]).flatMap((reason) =>
    MESSAGE_AND_CODES[reason].slice(1).map((code): [string, JournalErrorReason] => [code, reason]),
  ),
);

const CONNECTION_EXCEPTION_PATTERN = /^08\w{3}$/;
const TLS_CODE_PATTERN = /^ERR_(TLS|SSL)_|CERT|^UNABLE_TO_|_SIGNATURE/;

/** For driver errors without a code: pattern of the driver's text, reason, and optionally a more exact message. */
const MESSAGE_PATTERNS: readonly [RegExp, JournalErrorReason, message?: string][] = [
  [
    /^SASL: .*password must be/,
    'authentication_failed',
    'DATABASE_URL has no password, and PostgreSQL requires one',
  ],
  [/time(d )?out|too late/i, 'timeout'],
  [/SSL|TLS/, 'tls_failed'],
  [/connection (terminated|ended|error)|not queryable/i, 'connection_lost'],
];

/**
 * Classifies an error by the first ClassifiedError, TimeoutError or error code in its chain of causes. If the chain has
 * none of these, classifies the error by the messages in the chain (see MESSAGE_PATTERNS).
 */
export function classifyJournalError(error: unknown): JournalErrorInfo {
  const chain = [...causeChain(error)];
  for (const chainedError of chain) {
    if (chainedError instanceof ClassifiedError) return chainedError.info;
    const code = chainedError instanceof TimeoutError ? 'ETIMEDOUT' : chainedError.code;
    if (typeof code !== 'string' || !/^\w{2,60}$/.test(code)) continue;
    const reason = reasonOfCode(code);
    return { reason, code, message: MESSAGE_AND_CODES[reason][0] };
  }
  const errorMessages = chain.map(({ message }) => String(message));
  const matchingEntry = MESSAGE_PATTERNS.find(([pattern]) =>
    errorMessages.some((message) => pattern.test(message)),
  );
  const [, reason, message] = matchingEntry ?? [null, 'other' as const];
  return { reason, code: null, message: message ?? MESSAGE_AND_CODES[reason][0] };
}

interface ErrorLike {
  code?: unknown;
  message?: unknown;
  cause?: unknown;
}

function* causeChain(error: unknown): Generator<ErrorLike> {
  for (
    let chainedError = error;
    typeof chainedError === 'object' && chainedError !== null;
    chainedError = (chainedError as ErrorLike).cause
  )
    yield chainedError;
}

function reasonOfCode(code: string): JournalErrorReason {
  if (TLS_CODE_PATTERN.test(code)) return 'tls_failed';
  return REASON_BY_CODE.get(code) ?? (CONNECTION_EXCEPTION_PATTERN.test(code) ? 'connection_lost' : 'other');
}

/** A journal error whose description is already known. classifyJournalError() returns this description. */
export class ClassifiedError extends Error {
  /**
   * SQLSTATE or other error code; undefined if there is none. The field has the same name in errors of drivers and of
   * the operating system.
   */
  readonly code: string | undefined;

  constructor(readonly info: JournalErrorInfo) {
    super(info.message);
    this.name = 'ClassifiedError';
    this.code = info.code ?? undefined;
  }
}

/** Returns an error with the reason `other`. `message`: a sentence for operators, without a full stop. */
export const otherReasonError = (message: string): ClassifiedError =>
  new ClassifiedError({ reason: 'other', code: null, message });

/** Returns the error for a PostgreSQL server that may lose commits (reason `not_durable`). */
export const notDurableError = (): ClassifiedError =>
  new ClassifiedError({ reason: 'not_durable', code: '01000', message: MESSAGE_AND_CODES.not_durable[0] });

const PERMANENT_REASONS: ReadonlySet<JournalErrorReason> = new Set([
  'authentication_failed',
  'database_missing',
  'permission_denied',
]);

/**
 * Whether an error lasts until an operator corrects settings or privileges. If the journal reports such an error while
 * the gateway starts, the start fails.
 */
export const isPermanent = ({ reason }: JournalErrorInfo): boolean => PERMANENT_REASONS.has(reason);

/** Returns the message of an error and, if it has one, its code: `PostgreSQL refuses connections (ECONNREFUSED)`. */
export const journalErrorText = ({ message, code }: JournalErrorInfo): string =>
  code === null ? message : `${message} (${code})`;

const SQLITE_CODE_BY_NUMBER: Readonly<Record<number, string>> = {
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  8: 'SQLITE_READONLY',
  10: 'SQLITE_IOERR',
  11: 'SQLITE_CORRUPT',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
  26: 'SQLITE_NOTADB',
};
/** SQLite codes with many possible causes. For these, diagnoseSqliteError() also checks the file system. */
const SQLITE_CODES_TO_DIAGNOSE = new Set(['SQLITE_READONLY', 'SQLITE_IOERR', 'SQLITE_CANTOPEN']);

/**
 * Converts an error of SQLite to an error whose `code` is the name of the result code, such as SQLITE_BUSY. If the name
 * is in SQLITE_CODES_TO_DIAGNOSE, and a check of the file system finds the cause, `code` is a system error code, such
 * as EACCES or ENOSPC. Returns other errors unchanged.
 */
export function diagnoseSqliteError(error: unknown, sqlitePath: string): unknown {
  const { message, errcode } = error as { message: string; errcode?: number };
  if (errcode === undefined) return error;
  // `errcode` is an extended result code of SQLite; its low byte is the primary result code.
  const sqliteCode = SQLITE_CODE_BY_NUMBER[errcode & 0xff] ?? 'SQLITE_ERROR';
  const needsDiagnosis = SQLITE_CODES_TO_DIAGNOSE.has(sqliteCode);
  const diagnosedCode =
    (needsDiagnosis && (accessErrorCode(sqlitePath) ?? (isDiskFull(sqlitePath) && 'ENOSPC'))) || sqliteCode;
  return Object.assign(new Error(message), { code: diagnosedCode });
}

/** Returns a system error code if a file's folder, or the file if it exists, cannot be written; otherwise undefined. */
export function accessErrorCode(filePath: string): string | undefined {
  try {
    accessSync(path.dirname(filePath), constants.W_OK);
    if (existsSync(filePath)) accessSync(filePath, constants.W_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
}

function isDiskFull(filePath: string): boolean {
  try {
    const { bavail, bfree, blocks } = statfsSync(path.dirname(filePath));
    // `bfree` includes reserved blocks, which only root can use. Virtual file systems report 0 blocks.
    return blocks > 0 && (process.geteuid?.() === 0 ? bfree : bavail) === 0;
  } catch {
    return false;
  }
}
