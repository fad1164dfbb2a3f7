import { accessSync, constants } from 'node:fs';
import { errorCode } from './error-code';

export interface PostgresHost {
  host: string;
  port: number;
}

/** A parsed and validated connection string of PostgreSQL. */
export interface PostgresUrl {
  /** Connection string for the driver. It contains only the first host. */
  connectionString: string;
  /** All hosts in the given order if there are several, else empty. */
  failoverHosts: readonly PostgresHost[];
  /** The parameter `target_session_attrs`, as in libpq. Default: `any` for a single host, `read-write` for several. */
  targetSessionAttributes: 'any' | 'read-write' | 'primary';
  /** Timeout in ms for connecting to each of several hosts; unused for a single host. */
  connectTimeoutMs: number;
}

/** Thrown for an invalid connection string. The message names the invalid part and the rule, but no value. */
export class PostgresUrlError extends Error {}

function requireThat(isValid: boolean, rule: string): asserts isValid {
  if (!isValid) throw new PostgresUrlError(`expected ${rule}`);
}

const DEFAULT_POSTGRES_PORT = 5432;
const DEFAULT_CONNECT_TIMEOUT_TEXT = '2';
const MAX_CONNECT_TIMEOUT_SECONDS = 60;
const MAX_HOSTS = 10;

const RESERVED_CHARACTERS_RULE =
  'reserved characters, for example in the password, to be percent-encoded: / as %2F, ? as %3F, # as %23, @ as %40';

const POSTGRES_URL_PATTERN = /^(postgres(?:ql)?:\/\/)(?=.)(?:([^/?#]*)@)?([^/?#@]*)([^]*)$/;
const HOST_PATTERN = /^(\[[\da-f:.]+\]|[\w.-]{1,253})(?::(.*))?$/i;

/** Allowed parameters with their allowed values; null: checkParameters() allows any value. */
const ALLOWED_POSTGRES_PARAMETERS: ReadonlyMap<string, readonly string[] | null> = new Map([
  ['sslmode', ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify']],
  ['ssl', ['true', '1', '0']],
  ['sslnegotiation', ['postgres', 'direct']],
  ...[
    ...['sslrootcert', 'sslcert', 'sslkey', 'target_session_attrs', 'load_balance_hosts', 'connect_timeout'],
    ...['user', 'password', 'host', 'port', 'options', 'client_encoding'],
    ...['application_name', 'fallback_application_name'],
    ...['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout', 'query_timeout'],
  ].map((parameterName): [string, null] => [parameterName, null]),
]);

/**
 * Throws if a parameter is unknown or its value is not allowed. The driver would ignore an unknown parameter, and would
 * treat an unknown `sslmode` as verify-full.
 */
function checkParameters(parameters: URLSearchParams): void {
  for (const [name, value] of parameters) {
    const allowedValues = ALLOWED_POSTGRES_PARAMETERS.get(name);
    const shownName = /^\w{1,63}$/.test(name) ? name : 'one parameter';
    const knownNames = [...ALLOWED_POSTGRES_PARAMETERS.keys()].join(', ');
    requireThat(
      allowedValues !== undefined,
      `only known parameters; ${shownName} is not one of ${knownNames}`,
    );
    requireThat(allowedValues?.includes(value) ?? true, `${name} to be one of ${allowedValues?.join(', ')}`);
  }
}

/**
 * Replaces the values prefer, require and verify-ca of `sslmode` with verify-full. The driver also treats these values
 * as verify-full, but prints a warning.
 */
const normalizeSslMode = (connectionString: string): string =>
  connectionString.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=[&#]|$)/g, '$1verify-full');

/**
 * Parses a connection string with one host, or with several as in libpq:
 * `postgres://user:password@host1:5432,host2:5433/database?target_session_attrs=read-write`. Throws a PostgresUrlError.
 */
export function parsePostgresUrl(text: string): PostgresUrl {
  const [, scheme = '', user, authority = '', rest = ''] = POSTGRES_URL_PATTERN.exec(text) ?? [];
  requireThat(scheme !== '', 'postgres://<user>@<host>:<port>/<database>');
  // Reject an @ after the authority. It shows that an unencoded reserved character has ended the authority too early.
  requireThat(!rest.includes('@'), RESERVED_CHARACTERS_RULE);
  const hostTexts = authority.split(',');
  const hasOneHost = hostTexts.length === 1;
  requireThat(hostTexts.length <= MAX_HOSTS, `at most ${MAX_HOSTS} hosts`);
  const failoverHosts = hasOneHost ? [] : hostTexts.map(parseHost);
  if (hasOneHost) checkPort(/:([^:\]]*)$/.exec(authority)?.[1], 'the port');
  if (user !== undefined) checkPercentEncoding(user);
  const schemeAndUser = user === undefined ? scheme : `${scheme}${user}@`;
  const connectionString = `${schemeAndUser}${hostTexts[0]}${rest}`;
  requireThat(URL.canParse(connectionString), 'a name or an IP address as host');
  const { searchParams } = new URL(connectionString);
  checkParameters(searchParams);
  const hasHostOrPortParameter = searchParams.has('host') || searchParams.has('port');
  requireThat(
    hasOneHost || !hasHostOrPortParameter,
    'no parameters host and port, because the URL already names several hosts',
  );
  return {
    connectionString: normalizeSslMode(connectionString),
    failoverHosts,
    ...parseConnectionParameters(searchParams, hasOneHost),
  };
}

function parseHost(text: string, hostIndex: number): PostgresHost {
  const [, host, port] = HOST_PATTERN.exec(text) ?? [];
  requireThat(host !== undefined, `a name or an IP address (IPv6 in brackets) as host ${hostIndex + 1}`);
  checkPort(port, `the port of host ${hostIndex + 1}`);
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port: port ? Number(port) : DEFAULT_POSTGRES_PORT };
}

function checkPort(portText: string | undefined, portDescription: string): void {
  const isValid =
    !portText || (/^\d{1,5}$/.test(portText) && Number(portText) >= 1 && Number(portText) <= 65_535);
  requireThat(isValid, `${portDescription} to be a number from 1 to 65535`);
}

function checkPercentEncoding(userInfo: string): void {
  try {
    decodeURIComponent(userInfo);
  } catch {
    throw new PostgresUrlError('expected user and password to be percent-encoded (%25 stands for %)');
  }
}

const isTargetSessionAttributes = (text: string): text is PostgresUrl['targetSessionAttributes'] =>
  ['any', 'read-write', 'primary'].includes(text);

function parseConnectionParameters(parameters: URLSearchParams, hasOneHost: boolean) {
  // The default for several hosts is read-write, not `any` as in libpq: the gateway cannot use a read-only standby.
  const targetSessionAttributes =
    parameters.get('target_session_attrs') ?? (hasOneHost ? 'any' : 'read-write');
  requireThat(
    isTargetSessionAttributes(targetSessionAttributes) && (hasOneHost || targetSessionAttributes !== 'any'),
    'target_session_attrs to be read-write or primary, because the gateway writes; any is allowed only with a single host',
  );
  const loadBalancing = parameters.get('load_balance_hosts') ?? 'disable';
  const triesHostsInOrder = hasOneHost || loadBalancing === 'disable';
  requireThat(
    triesHostsInOrder,
    'load_balance_hosts to be disable, because the gateway tries several hosts in the given order',
  );
  const timeoutText = (hasOneHost ? null : parameters.get('connect_timeout')) ?? DEFAULT_CONNECT_TIMEOUT_TEXT;
  const timeoutSeconds = /^\d{1,2}$/.test(timeoutText) ? Number(timeoutText) : 0;
  const isValidTimeout = timeoutSeconds >= 1 && timeoutSeconds <= MAX_CONNECT_TIMEOUT_SECONDS;
  requireThat(isValidTimeout, `connect_timeout to be from 1 to ${MAX_CONNECT_TIMEOUT_SECONDS} seconds`);
  return { targetSessionAttributes, connectTimeoutMs: timeoutSeconds * 1000 };
}

/** Throws a PostgresUrlError if a connection string is invalid or a TLS file that it names is not readable. */
export function checkPostgresUrl(text: string): void {
  const { searchParams: parameters } = new URL(parsePostgresUrl(text).connectionString);
  for (const parameterName of ['sslrootcert', 'sslcert', 'sslkey']) {
    const tlsFilePath = parameters.get(parameterName);
    if (tlsFilePath === null) continue;
    try {
      accessSync(tlsFilePath, constants.R_OK);
    } catch (error) {
      throw new PostgresUrlError(`expected ${parameterName} to name a readable file (${errorCode(error)})`);
    }
  }
}
