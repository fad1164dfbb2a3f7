/** The parameters that a connection string may have, with their values; null: any value, or it is checked elsewhere. */
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

/**
 * The first fault of the parameters; undefined when there is none. The driver ignores unknown names and treats an unknown
 * sslmode as TLS required.
 */
export function parameterFault(parameters: URLSearchParams): string | undefined {
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

/**
 * The connection string with verify-full instead of prefer, require and verify-ca. The driver treats these alike, but prints a
 * warning on each.
 */
export const withVerifiedTls = (connectionString: string): string =>
  connectionString.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=[&#]|$)/g, '$1verify-full');
