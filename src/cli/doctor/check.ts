import type { Config, secretFiles } from '../../config';

const FILE_MODE_REMEDY =
  'Run chmod 600 on the file, as the user of the gateway; in Kubernetes set defaultMode: 0400 for the volume.';

/** The remedies of all problems that the doctor reports, by the code of the problem. */
const REMEDY_BY_CODE = {
  setting_invalid: 'See docs/configuration.md. The other checks need valid settings.',
  suspicious_setting: 'Correct or unset the setting; docs/configuration.md lists every setting.',
  descriptor_limit_low:
    'Raise the limit of file descriptors for the gateway: LimitNOFILE (systemd), ulimits.nofile (Compose), the container runtime (Kubernetes). Or lower the setting.',
  manifest_invalid:
    'paygraph persist creates a valid manifest (docs/persisted-operations.md). The gateway does not start with this file.',
  service_unreachable:
    'Check host and port in SERVICE_BASE_URL, the DNS resolver and the firewall of this machine, and whether the service is up.',
  certificate_invalid:
    'Check the clock and whether SERVICE_BASE_URL has the host name of the certificate and a port with TLS. If the service uses its own certificate authority, set NODE_EXTRA_CA_CERTS; otherwise another server may be responding.',
  certificate_expires: 'Ask the provider of the service when the certificate will be renewed.',
  credentials_file_invalid:
    'See docs/service-credentials.md for the format. The gateway does not start with this file.',
  credentials_rejected:
    'Check the API key and the secret key (are they of the right environment, test or live?) and the clock of this machine.',
  service_error: 'Contact the provider of the service.',
  service_no_response:
    'See the result of the check "service connection". If it is ok, the service may respond too slowly: compare its response time with SERVICE_TIMEOUT_MS.',
  unexpected_status:
    'Check SERVICE_BASE_URL, and try one of your channels with --channel. If this is how the service reports an unknown payment, set SERVICE_NOT_FOUND_STATUS to this status.',
  unknown_key_accepted: 'Check SERVICE_BASE_URL and its path: it may point to another server.',
  clock_skew:
    'Synchronise the clock with NTP (timedatectl, chrony): the service rejects timestamps older than 5 minutes.',
  sqlite_unusable:
    'DATABASE_URL has to name the SQLite file of this gateway. If another program locks the file, stop it; if the file is damaged, restore the latest backup as in docs/deployment.md: it lacks the attempts made after it.',
  postgres_unusable:
    'Check DATABASE_URL (host, port, database, user, password; one host must be the primary), the connection limit and pg_hba.conf of the server. With PgBouncer, add the word "options" to ignore_startup_parameters.',
  tables_not_writable:
    'The server is a read-only replica, or the database user lacks privileges: GRANT SELECT, INSERT, UPDATE, DELETE on the tables; if there are no tables yet, GRANT CREATE on the schema.',
  database_clock: 'Synchronise the clocks of both machines with NTP (timedatectl, chrony).',
  journal_not_durable: 'Set fsync, full_page_writes and synchronous_commit of the server to on.',
  asynchronous_standby:
    'Set synchronous_standby_names. Otherwise, for FENCE_SECONDS after a failover, only lookups at the payment service prevent double payments (docs/exactly-once.md).',
  failover_unnoticed:
    'Grant the database user EXECUTE on pg_control_system(). Until then run `paygraph fence on` after each failover.',
  no_notifications:
    'Connect without PgBouncer, or use its session mode. Until then instances find changes by polling.',
  journal_newer: 'Run the version of the gateway that migrated the tables, or a later one.',
  migrations_pending: 'Run paygraph migrate; the gateway also migrates when it starts.',
  unknown_outcomes:
    'The gateway looks the attempts up repeatedly. If they stay unknown, run paygraph attempts list, ask the provider of the service, then run paygraph attempts settle (docs/exactly-once.md).',
  client_keys_invalid:
    'See docs/security.md for the format; paygraph client-key new creates entries. The gateway does not start with this file; a running gateway keeps its present keys.',
  no_keys: 'Add a key: paygraph client-key new <id> --file <file>.',
  key_expired: 'Remove the keys with paygraph client-key revoke; client-key rotate creates a new key.',
  key_expires: 'Create new keys with paygraph client-key rotate and give them to the clients.',
  token_keys_unusable: 'The issuer has to sign tokens with RS256, ES256 or EdDSA.',
  token_keys_unavailable:
    'Check AUTH_JWKS_URL and the connection to the identity provider. Until then a newly started gateway rejects all tokens with 503; a running gateway uses cached keys for at most AUTH_MAX_STALE_KEYS_SECONDS.',
  world_writable: FILE_MODE_REMEDY,
  world_readable: FILE_MODE_REMEDY,
  not_readable: 'Make the user of the gateway the owner of the file (chown).',
  path_unusable:
    'Correct the path in the setting, or create the folder (mkdir -p) and make the user of the gateway its owner (chown).',
  disk_space_low: 'Free disk space: on a full disk no payment can be created.',
  port_not_allowed:
    'HOST has to be an address of this machine; ports below 1024 require CAP_NET_BIND_SERVICE.',
  port_in_use: 'Stop the other program (ss -ltnp shows it), or change the setting.',
  host_not_found:
    'Add the host to the DNS, correct PUBLIC_URL, or check the DNS resolver of this machine: without an address, the service cannot send callbacks.',
  private_address:
    'Set PUBLIC_URL to an address that the service can reach, unless the service is in the same network.',
  no_callbacks:
    'Make sure that requests to /callbacks/ below PUBLIC_URL reach a running gateway. The doctor sent its request from this machine: a proxy or firewall may block it and still let the callbacks of the payment service through, or the reverse.',
  timeout: 'A host does not respond, a firewall drops packets, or this machine is overloaded.',
  check_error: 'This is a bug: please report it.',
} as const;

type ProblemCode = keyof typeof REMEDY_BY_CODE;

/** Result of a check. The texts are for the operator and never contain the value of a secret. */
export interface Finding {
  /** `skipped`: the check does not apply to these settings, or is impossible, for example LISTEN on a standby. */
  status: 'ok' | 'warning' | 'failed' | 'skipped';
  code: ProblemCode | 'ok' | 'skipped';
  message: string;
  /** Advice to fix the problem; absent if the status is `ok` or `skipped`. */
  remedy?: string;
}

export interface CheckContext {
  config: Config;
  /** The files that contain secret settings, such as that of SERVICE_SECRET_KEY_FILE. */
  secretFiles: ReturnType<typeof secretFiles>;
  /**
   * Merchant channel of the test lookup with the default credentials. The lookup uses a random UUID if `channel` is
   * undefined or has credentials of its own.
   */
  channel: string | undefined;
  /** Returns the time of this machine's clock, in ms since 1970. */
  now(): number;
}

export interface Check {
  /** The name of the check in the report and in docs/doctor.md. */
  name: string;
  run(context: CheckContext): Promise<Finding[]> | Finding[];
}

const findingCreatorForStatus =
  (status: 'warning' | 'failed') =>
  (code: ProblemCode, message: string): Finding => ({ status, code, message, remedy: REMEDY_BY_CODE[code] });

/** Functions that create a finding, by its status. */
export const findingOf = {
  ok: (message: string): Finding => ({ status: 'ok', code: 'ok', message }),
  skipped: (message: string): Finding => ({ status: 'skipped', code: 'skipped', message }),
  warning: findingCreatorForStatus('warning'),
  failed: findingCreatorForStatus('failed'),
};

/** Result of each check that needs a real payment service, if the gateway uses the embedded sandbox. */
export const SANDBOX_SKIP_FINDING = findingOf.skipped(
  'SERVICE_BASE_URL is not set: the embedded sandbox is used.',
);
