import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';

/** Why the journal fails: the value of `reason` in log lines, in /readyz and in metrics, with what it means. */
const REASONS = {
  connection_refused: 'PostgreSQL refuses connections',
  host_unreachable: 'the host of PostgreSQL cannot be resolved or reached',
  connection_lost: 'PostgreSQL closed the connection',
  starting_or_stopping: 'PostgreSQL is starting or shutting down',
  authentication_failed: 'PostgreSQL rejects the user or password',
  database_missing: 'the database does not exist',
  permission_denied: 'the user lacks privileges on the journal',
  tls_failed: 'the TLS connection to PostgreSQL cannot be established',
  too_many_connections: 'PostgreSQL has no free connection',
  read_only: 'the journal is read-only',
  disk_full: 'no space is left on the disk of the journal',
  locked: 'another process locks the journal',
  file_replaced: 'the SQLite file was removed or replaced while the gateway had it open',
  timeout: 'the journal does not answer in time',
  corrupt: 'the journal is damaged, or the file is not a database',
  io_error: 'the disk of the journal reports I/O errors',
  other: 'the journal fails',
} as const;

export type JournalReason = keyof typeof REASONS;

/** Every reason. */
export const JOURNAL_REASONS = Object.keys(REASONS) as JournalReason[];

/** The meaning of a journal error, safe to log: no value of a setting, no message of a driver. */
export interface JournalFault {
  reason: JournalReason;
  /** The SQLSTATE, or the name of a system or SQLite error code; null where the error has none. */
  code: string | null;
  /** A sentence without its full stop. */
  message: string;
}

/** By SQLSTATE, system error code, or name of an SQLite result code. */
const BY_CODE: Readonly<Record<string, JournalReason>> = {
  ECONNREFUSED: 'connection_refused',
  ...{ ENOTFOUND: 'host_unreachable', EAI_AGAIN: 'host_unreachable', EHOSTUNREACH: 'host_unreachable' },
  ...{ ENETUNREACH: 'host_unreachable', EADDRNOTAVAIL: 'host_unreachable' },
  ...{ ECONNRESET: 'connection_lost', EPIPE: 'connection_lost', '57P01': 'connection_lost' },
  ...{ '57P02': 'starting_or_stopping', '57P03': 'starting_or_stopping' },
  ...{ '28P01': 'authentication_failed', '28000': 'authentication_failed' },
  '3D000': 'database_missing',
  ...{ '42501': 'permission_denied', EACCES: 'permission_denied', EPERM: 'permission_denied' },
  EPROTO: 'tls_failed',
  '53300': 'too_many_connections',
  ...{ '25006': 'read_only', EROFS: 'read_only', SQLITE_READONLY: 'read_only' },
  ...{ '53100': 'disk_full', ENOSPC: 'disk_full', EDQUOT: 'disk_full', SQLITE_FULL: 'disk_full' },
  ...{ '55P03': 'locked', SQLITE_BUSY: 'locked', SQLITE_LOCKED: 'locked' },
  FILE_REPLACED: 'file_replaced',
  ...{ ETIMEDOUT: 'timeout', '57014': 'timeout' },
  ...{ SQLITE_CORRUPT: 'corrupt', SQLITE_NOTADB: 'corrupt', XX001: 'corrupt', XX002: 'corrupt' },
  ...{ '58030': 'io_error', EIO: 'io_error', SQLITE_IOERR: 'io_error', SQLITE_CANTOPEN: 'io_error' },
};

const TLS_CODE = /^ERR_(TLS|SSL)_|CERT|^UNABLE_TO_|_SIGNATURE/;

/** The driver gives these errors no code. */
const BY_MESSAGE: readonly [RegExp, JournalReason, message?: string][] = [
  [
    /^SASL: .*password must be/,
    'authentication_failed',
    'DATABASE_URL has no password, and PostgreSQL asks for one',
  ],
  [/time(d )?out|too late|time ran out/i, 'timeout'],
  [/SSL|TLS/, 'tls_failed'],
  [/connection (terminated|ended|error)|not queryable/i, 'connection_lost'],
];

/** The fault behind an error of the journal or behind its cause. */
export function faultOf(error: unknown): JournalFault {
  const chain = [...withCauses(error)];
  for (const inner of chain) {
    if (inner instanceof FaultError) return inner.fault;
    const { code } = inner;
    if (typeof code !== 'string' || !/^\w{2,60}$/.test(code)) continue;
    const reason = BY_CODE[code] ?? (TLS_CODE.test(code) ? 'tls_failed' : byClass(code));
    return { reason, code, message: REASONS[reason] };
  }
  const messages = chain.map(({ message }) => String(message));
  const found = BY_MESSAGE.find(([pattern]) => messages.some((message) => pattern.test(message)));
  const [, reason, message] = found ?? [null, 'other' as const];
  return { reason, code: null, message: message ?? REASONS[reason] };
}

interface AnyError {
  code?: unknown;
  message?: unknown;
  cause?: unknown;
}

/** An error, its cause, and so on. */
function* withCauses(error: unknown): Generator<AnyError> {
  for (let inner = error; typeof inner === 'object' && inner !== null; inner = (inner as AnyError).cause)
    yield inner;
}

/** By the class of an SQLSTATE: 08 is a connection exception. */
const byClass = (code: string): JournalReason => (/^08\w{3}$/.test(code) ? 'connection_lost' : 'other');

/** An error with its fault, for example one that summarizes several others. */
export class FaultError extends Error {
  /** As the errors of the driver and the system have it. */
  readonly code: string | undefined;

  constructor(readonly fault: JournalFault) {
    super(fault.message);
    this.name = 'FaultError';
    this.code = fault.code ?? undefined;
  }
}

/** The user of the connection string may not read and write every table. */
export const PERMISSION_DENIED: JournalFault = {
  reason: 'permission_denied',
  code: '42501',
  message: REASONS.permission_denied,
};

/** Waiting and trying again does not help against these: somebody has to change a setting or a right. */
const PERMANENT: ReadonlySet<JournalReason> = new Set([
  'authentication_failed',
  'database_missing',
  'permission_denied',
]);

/** Whether a fault ends the start of the gateway. */
export const isPermanent = ({ reason }: JournalFault): boolean => PERMANENT.has(reason);

/** A fault in one text: what is wrong, and its code in parentheses. */
export const faultText = ({ message, code }: JournalFault): string =>
  code === null ? message : `${message} (${code})`;

const SQLITE_CODES: Readonly<Record<number, string>> = {
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  8: 'SQLITE_READONLY',
  10: 'SQLITE_IOERR',
  11: 'SQLITE_CORRUPT',
  13: 'SQLITE_FULL',
  14: 'SQLITE_CANTOPEN',
  26: 'SQLITE_NOTADB',
};
/** Codes without a reason: the file system is checked. */
const VAGUE_CODES = new Set(['SQLITE_READONLY', 'SQLITE_IOERR', 'SQLITE_CANTOPEN']);

/** An error of SQLite with a code: that of the folder's disk where SQLite itself does not say more. */
export function sqliteError(message: string, errcode: number | undefined, file: string): Error {
  // The low byte is the primary result code.
  const known = errcode === undefined ? undefined : (SQLITE_CODES[errcode & 0xff] ?? 'SQLITE_ERROR');
  const isVague = known !== undefined && VAGUE_CODES.has(known);
  const code = (isVague && (accessFault(file) ?? spaceFault(file))) || known;
  return code === undefined ? new Error(message) : Object.assign(new Error(message), { code });
}

/** The system error code that keeps this process from writing the file, or a new one in its folder; undefined where nothing does. */
export function accessFault(file: string): string | undefined {
  try {
    accessSync(path.dirname(file), constants.W_OK);
    if (existsSync(file)) accessSync(file, constants.W_OK);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
}

function spaceFault(file: string): string | undefined {
  try {
    const { bavail, bfree, blocks } = statfsSync(path.dirname(file));
    // Some blocks are reserved for root; what is no disk has none.
    const left = process.geteuid?.() === 0 ? bfree : bavail;
    return blocks > 0 && left === 0 ? 'ENOSPC' : undefined;
  } catch {
    return undefined;
  }
}
