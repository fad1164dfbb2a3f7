import { Gauge, type Registry } from 'prom-client';

/** A client key as metrics show it. */
export interface ClientKeyState {
  /** The client's id in CLIENT_KEYS_FILE. */
  client: string;
  label: string;
  /** When a request last had the key, in milliseconds since 1970; null: not since the process started. */
  lastUsedAt: number | null;
  /** In milliseconds since 1970; null: the key does not expire. */
  expiresAt: number | null;
}

/**
 * Shows when each client key was last used and when it expires. A key that this process has not seen, or that does not
 * expire, has no sample. Both labels are names that the operator gave in CLIENT_KEYS_FILE.
 */
export function showClientKeys(registry: Registry, read: () => readonly ClientKeyState[]): void {
  const gauge = (name: string, help: string, valueOf: (key: ClientKeyState) => number | null): void => {
    new Gauge({
      name,
      help,
      labelNames: ['client', 'key'],
      aggregator: 'max',
      registers: [registry],
      collect() {
        // Keys are revoked while the gateway runs.
        this.reset();
        for (const key of read()) {
          const ms = valueOf(key);
          if (ms !== null) this.set({ client: key.client, key: key.label }, ms / 1000);
        }
      },
    });
  };
  gauge(
    'paygraph_client_key_last_used_timestamp_seconds',
    'When a client key was last used, in seconds since 1970, by its label. Nothing for a key not used since the process started.',
    ({ lastUsedAt }) => lastUsedAt,
  );
  gauge(
    'paygraph_client_key_expiry_timestamp_seconds',
    'When a client key expires, in seconds since 1970, by its label. Nothing for a key that does not expire.',
    ({ expiresAt }) => expiresAt,
  );
}
