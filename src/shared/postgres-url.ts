import { accessSync, constants } from 'node:fs';
import { parameterFault, withVerifiedTls } from './postgres-parameters';

/** A server that a connection string names. */
export interface PostgresHost {
  host: string;
  port: number;
}

/** What a session has to be able to do, as in libpq; `any`: it is not asked. */
export type SessionAttributes = 'any' | 'read-write' | 'primary';

/** A connection string of PostgreSQL, checked. */
export interface PostgresUrl {
  /** The same with its first host only, as the driver reads it. */
  connectionString: string;
  /** The hosts in their order; empty where there is one, which the driver reads from the connection string. */
  hosts: readonly PostgresHost[];
  attributes: SessionAttributes;
  /** How long connecting to one of several hosts may take, in milliseconds. */
  connectTimeoutMs: number;
}

/** A part of a connection string is wrong. The message names the part and the rule, never a value. */
export class PostgresUrlError extends Error {}

const DEFAULT_PORT = 5432;
const DEFAULT_CONNECT_TIMEOUT_MS = 2_000;
const MAX_CONNECT_TIMEOUT_SECONDS = 60;
const MAX_HOSTS = 10;

const RESERVED =
  'expected reserved characters percent-encoded, above all in the password: / as %2F, ? as %3F, # as %23, @ as %40';

const FORM = /^(postgres(?:ql)?:\/\/)(?=.)(?:([^/?#]*)@)?([^/?#@]*)([^]*)$/;
const HOST = /^(\[[\da-f:.]+\]|[\w.-]{1,253})(?::(.*))?$/i;

/**
 * Reads a connection string with one host, or with several as in libpq:
 * `postgres://user:password@host1:5432,host2:5433/database?target_session_attrs=read-write`.
 * @throws PostgresUrlError
 */
export function readPostgresUrl(text: string): PostgresUrl {
  const [, scheme = '', user, authority = '', rest = ''] = FORM.exec(text) ?? [];
  if (scheme === '') throw new PostgresUrlError('expected postgres://<user>@<host>:<port>/<database>');
  // The name ended too early, at a character that ends the authority of a URL.
  if (rest.includes('@')) throw new PostgresUrlError(RESERVED);
  const parts = authority.split(',');
  const isOne = parts.length === 1;
  if (parts.length > MAX_HOSTS) throw new PostgresUrlError(`expected ${MAX_HOSTS} hosts at most`);
  const hosts = isOne ? [] : parts.map(readHost);
  if (isOne) checkPort(/:([^:\]]*)$/.exec(authority)?.[1], 'the port');
  if (user !== undefined) checkEncoding(user);
  const connectionString = isOne
    ? text
    : `${scheme}${user === undefined ? '' : `${user}@`}${parts[0]}${rest}`;
  if (!URL.canParse(connectionString)) throw new PostgresUrlError('expected a name or an IP address as host');
  const { searchParams } = new URL(connectionString);
  const fault = parameterFault(searchParams);
  if (fault !== undefined) throw new PostgresUrlError(fault);
  if (!isOne && (searchParams.has('host') || searchParams.has('port')))
    throw new PostgresUrlError('expected several hosts before the path, not in the parameters host and port');
  return {
    connectionString: withVerifiedTls(connectionString),
    hosts,
    ...readParameters(searchParams, isOne),
  };
}

function readHost(text: string, place: number): PostgresHost {
  const [, host, port] = HOST.exec(text) ?? [];
  if (host === undefined)
    throw new PostgresUrlError(`expected a name or an IP address (IPv6 in brackets) as host ${place + 1}`);
  checkPort(port, `the port of host ${place + 1}`);
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port: port ? Number(port) : DEFAULT_PORT };
}

function checkPort(port: string | undefined, name: string): void {
  if (!port) return;
  if (!/^\d{1,5}$/.test(port) || Number(port) < 1 || Number(port) > 65_535)
    throw new PostgresUrlError(`expected ${name} to be a number from 1 to 65535`);
}

function checkEncoding(user: string): void {
  try {
    decodeURIComponent(user);
  } catch {
    throw new PostgresUrlError('expected special characters of user and password as %XX');
  }
}

const isAttributes = (text: string): text is SessionAttributes =>
  ['any', 'read-write', 'primary'].includes(text);

function readParameters(parameters: URLSearchParams, isOne: boolean) {
  // libpq takes any server unless told otherwise; with a standby the gateway could do nothing.
  const attributes = parameters.get('target_session_attrs') ?? (isOne ? 'any' : 'read-write');
  if (!isAttributes(attributes))
    throw new PostgresUrlError(
      'expected target_session_attrs to be read-write or primary, as the gateway writes',
    );
  if (attributes === 'any' && !isOne)
    throw new PostgresUrlError(
      'expected target_session_attrs to be read-write or primary, not any, with several hosts: the gateway writes',
    );
  if (isOne) return { attributes, connectTimeoutMs: DEFAULT_CONNECT_TIMEOUT_MS };
  if ((parameters.get('load_balance_hosts') ?? 'disable') !== 'disable')
    throw new PostgresUrlError(
      'expected load_balance_hosts to be disable, as hosts are tried in their order',
    );
  const text = parameters.get('connect_timeout') ?? String(DEFAULT_CONNECT_TIMEOUT_MS / 1000);
  const seconds = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (seconds < 1 || seconds > MAX_CONNECT_TIMEOUT_SECONDS)
    throw new PostgresUrlError(
      `expected connect_timeout to be from 1 to ${MAX_CONNECT_TIMEOUT_SECONDS} seconds`,
    );
  return { attributes, connectTimeoutMs: seconds * 1000 };
}

/**
 * Checks a connection string, and that the files of TLS that it names can be read.
 * @throws PostgresUrlError
 */
export function checkPostgresUrl(text: string): void {
  // The driver reads these files whenever it connects.
  const { searchParams: parameters } = new URL(readPostgresUrl(text).connectionString);
  for (const name of ['sslrootcert', 'sslcert', 'sslkey']) {
    const file = parameters.get(name);
    if (file === null) continue;
    try {
      accessSync(file, constants.R_OK);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      throw new PostgresUrlError(`expected ${name} to name a file that can be read (${code ?? 'unknown'})`);
    }
  }
}
