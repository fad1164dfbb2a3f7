import { accessSync, constants } from 'node:fs';
import { errorCode } from './error-code';

export interface PostgresHost {
  host: string;
  port: number;
}

/** `target_session_attrs`, as in libpq. */
type SessionAttributes = 'any' | 'read-write' | 'primary';

/** A validated connection string of PostgreSQL. */
export interface PostgresUrl {
  /** For the driver, with the first host only. */
  connectionString: string;
  /** The hosts in order; empty if there is only one, which is in the connection string. */
  hosts: readonly PostgresHost[];
  attributes: SessionAttributes;
  /** Timeout of connecting to one of several hosts, in milliseconds. */
  connectTimeoutMs: number;
}

/** An invalid connection string. The message names the part and the rule, never a value. */
export class PostgresUrlError extends Error {}

const DEFAULT_PORT = 5432;
const DEFAULT_CONNECT_TIMEOUT_MS = 2_000;
const MAX_CONNECT_TIMEOUT_SECONDS = 60;
const MAX_HOSTS = 10;

const RESERVED =
  'expected reserved characters percent-encoded, above all in the password: / as %2F, ? as %3F, # as %23, @ as %40';

const FORM = /^(postgres(?:ql)?:\/\/)(?=.)(?:([^/?#]*)@)?([^/?#@]*)([^]*)$/;
const HOST = /^(\[[\da-f:.]+\]|[\w.-]{1,253})(?::(.*))?$/i;

/** Allowed parameters with their values; null: any value. */
const PARAMETERS: ReadonlyMap<string, readonly string[] | null> = new Map([
  ['sslmode', ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify']],
  ['ssl', ['true', '1', '0']],
  ['sslnegotiation', ['postgres', 'direct']],
  ...[
    ...['sslrootcert', 'sslcert', 'sslkey', 'target_session_attrs', 'load_balance_hosts', 'connect_timeout'],
    ...['user', 'password', 'host', 'port', 'options', 'client_encoding'],
    ...['application_name', 'fallback_application_name'],
    ...['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'query_timeout'],
  ].map((name): [string, null] => [name, null]),
]);

/** The first error; the driver ignores unknown names and treats an unknown sslmode as TLS required. */
function parameterError(parameters: URLSearchParams): string | undefined {
  for (const [name, value] of parameters) {
    const values = PARAMETERS.get(name);
    if (values === undefined) {
      const shown = /^\w{1,63}$/.test(name) ? name : 'a name';
      return `expected known parameters: ${shown} is none of ${[...PARAMETERS.keys()].join(', ')}`;
    }
    if (values && !values.includes(value)) return `expected ${name} to be one of ${values.join(', ')}`;
  }
  return undefined;
}

/** Replaces prefer, require and verify-ca by verify-full: the driver treats these alike, but prints a warning. */
const withVerifiedTls = (connectionString: string): string =>
  connectionString.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=[&#]|$)/g, '$1verify-full');

/**
 * Parses a connection string with one host, or with several as in libpq:
 * `postgres://user:password@host1:5432,host2:5433/database?target_session_attrs=read-write`. Throws a PostgresUrlError.
 */
export function readPostgresUrl(text: string): PostgresUrl {
  const [, scheme = '', user, authority = '', rest = ''] = FORM.exec(text) ?? [];
  if (scheme === '') throw new PostgresUrlError('expected postgres://<user>@<host>:<port>/<database>');
  // An unencoded reserved character has ended the authority too early.
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
  const error = parameterError(searchParams);
  if (error !== undefined) throw new PostgresUrlError(error);
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
  // The default of libpq is any server; the gateway cannot use a standby.
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

/** Checks a connection string, and that its TLS files are readable. Throws a PostgresUrlError. */
export function checkPostgresUrl(text: string): void {
  const { searchParams: parameters } = new URL(readPostgresUrl(text).connectionString);
  for (const name of ['sslrootcert', 'sslcert', 'sslkey']) {
    const file = parameters.get(name);
    if (file === null) continue;
    try {
      accessSync(file, constants.R_OK);
    } catch (error) {
      throw new PostgresUrlError(`expected ${name} to name a readable file (${errorCode(error)})`);
    }
  }
}
