import type { Store } from '../../support/stores';

/** The tables of a journal from before the first release. */
const tables = (isSqlite: boolean): string[] => {
  const sequence = isSqlite ? 'INTEGER PRIMARY KEY AUTOINCREMENT' : 'BIGSERIAL PRIMARY KEY';
  return [
    'CREATE TABLE applied_migrations (name TEXT PRIMARY KEY)',
    "INSERT INTO applied_migrations VALUES ('0009-write-checks')",
    `CREATE TABLE attempts (seq ${sequence}, id TEXT NOT NULL UNIQUE, service TEXT NOT NULL, client TEXT NOT NULL,
       key TEXT NOT NULL, kind TEXT NOT NULL, fingerprint TEXT NOT NULL, channel TEXT NOT NULL, method TEXT NOT NULL,
       external_id TEXT NOT NULL, currency TEXT NOT NULL, value TEXT NOT NULL, shown TEXT NOT NULL,
       outcome TEXT NOT NULL, transaction_id TEXT, status TEXT, owner TEXT NOT NULL, lease_until BIGINT NOT NULL,
       started_at BIGINT NOT NULL, service_started_at BIGINT, send_until BIGINT NOT NULL, settled_at BIGINT,
       next_check_at BIGINT, checks INTEGER NOT NULL DEFAULT 0, absent_lookups INTEGER NOT NULL DEFAULT 0,
       absent_ms BIGINT NOT NULL DEFAULT 0, absent_observer TEXT NOT NULL DEFAULT '',
       UNIQUE (service, client, key))`,
    `CREATE TABLE reservations (service TEXT NOT NULL, channel TEXT NOT NULL, external_id TEXT NOT NULL,
       attempt_id TEXT NOT NULL, PRIMARY KEY (service, channel, external_id))`,
    `CREATE TABLE confirms (service TEXT NOT NULL, channel TEXT NOT NULL, transaction_id TEXT NOT NULL,
       id TEXT NOT NULL UNIQUE, owner TEXT NOT NULL, lease_until BIGINT NOT NULL, suspect INTEGER NOT NULL DEFAULT 0,
       input_hash TEXT NOT NULL, suspect_hashes TEXT NOT NULL DEFAULT '', PRIMARY KEY (service, channel, transaction_id))`,
    `CREATE TABLE confirmed (service TEXT NOT NULL, channel TEXT NOT NULL, transaction_id TEXT NOT NULL,
       input_hash TEXT NOT NULL, status TEXT NOT NULL, confirmed_at BIGINT NOT NULL,
       PRIMARY KEY (service, channel, transaction_id, input_hash))`,
    `CREATE TABLE settlement_proposals (id TEXT NOT NULL, attempt_id TEXT NOT NULL, service TEXT NOT NULL,
       outcome TEXT NOT NULL, transaction_id TEXT, status TEXT, reason TEXT NOT NULL, proposed_by TEXT NOT NULL,
       sudo_user TEXT, given_name TEXT, proposed_at BIGINT NOT NULL, expires_at BIGINT NOT NULL,
       PRIMARY KEY (id, attempt_id))`,
    'CREATE TABLE write_checks (id INTEGER PRIMARY KEY, checked_at BIGINT NOT NULL, filler TEXT NOT NULL)',
    ...(isSqlite
      ? []
      : [
          "CREATE FUNCTION attempt_is_open(attempt TEXT) RETURNS BOOLEAN LANGUAGE sql AS 'SELECT FALSE'",
          `CREATE FUNCTION attempts_with_transaction_of_another(candidates JSONB) RETURNS SETOF TEXT LANGUAGE sql
             AS 'SELECT NULL::text WHERE FALSE'`,
        ]),
  ];
};

/** Creates the journal in an empty store. */
export async function createFirstJournal(store: Store): Promise<void> {
  for (const statement of tables(store.kind === 'SQLite')) await store.rows(statement);
}

type FirstAttempt = Record<string, string | number | null>;

/** A settled payment, except for the given columns. */
export const firstAttempt = (key: string, given: FirstAttempt = {}): FirstAttempt => ({
  id: `old-${key}`,
  service: 'service-1',
  client: 'shop',
  key,
  kind: 'payment',
  fingerprint: `0a1b2c3d.${'0123456789abcdef'.repeat(4)}`,
  channel: 'channel-1',
  method: 'bank_card',
  external_id: `order ${key}`,
  currency: 'EUR',
  value: '10.00',
  shown: '{"last4":"1111"}',
  outcome: 'succeeded',
  transaction_id: `tx ${key}`,
  status: 'COMPLETED',
  owner: 'instance-1',
  lease_until: 0,
  started_at: 1_000,
  service_started_at: 900,
  send_until: 2_000,
  settled_at: 3_000,
  next_check_at: null,
  ...given,
});

/** An attempt without an outcome, whose lease has expired. */
export const firstUnknown = (key: string, given: FirstAttempt = {}): FirstAttempt =>
  firstAttempt(key, { outcome: 'unknown', transaction_id: null, status: null, settled_at: null, ...given });

/** Returns a value as SQL. */
export const asSql = (value: string | number | null): string =>
  typeof value === 'string' ? `'${value}'` : String(value);

/** Writes attempts as a gateway of that time does. Payouts reserve their external ids. */
export async function insertFirst(store: Store, attempts: readonly FirstAttempt[]): Promise<void> {
  for (const attempt of attempts) {
    const row = Object.values(attempt).map(asSql).join(', ');
    await store.rows(`INSERT INTO attempts (${Object.keys(attempt).join(', ')}) VALUES (${row})`);
    if (attempt['kind'] === 'payout')
      await store.rows(`INSERT INTO reservations SELECT service, channel, external_id, id FROM attempts
        WHERE id = '${attempt['id']}'`);
  }
}
