/** The parameters of a connection string, with their values; null where others check these, or any will do. */
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
 * What is wrong with the parameters; undefined where nothing is. The driver ignores a name that it does not know, and any
 * unknown sslmode turns TLS on.
 */
export function parameterFault(parameters: URLSearchParams): string | undefined {
  for (const [name, value] of parameters) {
    const values = PARAMETERS.get(name);
    if (values === undefined) {
      const shown = /^\w{1,63}$/.test(name) ? name : 'a name';
      return `expected parameters that the gateway knows: ${shown} is none, ${nearestTo(name)} is the nearest`;
    }
    if (values && !values.includes(value)) return `expected ${name} to be one of ${values.join(', ')}`;
  }
  return undefined;
}

function nearestTo(name: string): string | undefined {
  const short = name.slice(0, 63).toLowerCase();
  const byDistance = [...PARAMETERS.keys()].map((known) => ({ known, edits: editsBetween(short, known) }));
  return byDistance.sort((one, other) => one.edits - other.edits)[0]?.known;
}

/** How many characters to insert, delete or replace (Levenshtein). */
function editsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, place) => place);
  for (const [line, letter] of [...from].entries()) {
    const next = [line + 1];
    row.slice(1).forEach((above, place) => {
      const replaced = (row[place] ?? 0) + (letter === to[place] ? 0 : 1);
      next.push(Math.min(replaced, above + 1, (next[place] ?? 0) + 1));
    });
    row = next;
  }
  return row.at(-1) ?? 0;
}

/**
 * The connection string with verify-full in the place of prefer, require and verify-ca. The driver treats them so, but
 * prints a warning that a later version will not.
 */
export const withVerifiedTls = (connectionString: string): string =>
  connectionString.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=[&#]|$)/g, '$1verify-full');
