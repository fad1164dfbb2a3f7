import type { Secret } from './secret';
import { credential, type Setting, type SettingsReader } from './settings';

/** The settings of the metrics (docs/observability.md). */
export const METRICS_SETTINGS = {
  METRICS_TOKEN: {
    about:
      'What a reader of /metrics has to send: Authorization: Bearer <token>. Set it to read metrics from another machine.',
    unset: 'who is on this machine may read, and nobody through a proxy',
    ...credential,
  },
} satisfies Record<string, Setting<unknown>>;

/** What a reader of /metrics has to show; null: to be on this machine. */
export const readMetricsToken = (reader: SettingsReader): Secret | null =>
  reader.get('METRICS_TOKEN', METRICS_SETTINGS.METRICS_TOKEN) ?? null;
