import type { LiveConfig } from './config-types';
import { DEFAULT_SCHEDULE, type Pace } from './operations/watching/schedule';
import type { WatchSettings } from './operations/watching/watches';
import { pollAfter, type PollAfter } from './schema/poll-after';
import { wholeNumber, type Setting, type SettingsReader } from './settings';
import { pace } from './setting-values';

/** The settings of live updates (docs/live-updates.md). */
export const WATCHING_SETTINGS = {
  WATCH_PACE_PAYER: {
    about: 'How often a watched payment is looked at while it waits for the payer.',
    unset: '2s/2m 5s/10m 15s/1h 60s',
    ...pace,
  },
  WATCH_PACE_PROVIDER: {
    about:
      'How often a watched payment or payout is looked at while it waits for the provider, as it does after a confirm.',
    unset: '1s/30s 2s/2m 5s/10m 15s/1h 60s',
    ...pace,
  },
  WATCH_PACE_MISPAID: {
    about: 'How often a watched payment is looked at that was paid with another amount.',
    unset: '15s/10m 60s',
    ...pace,
  },
  WATCH_OUTAGE_SECONDS: {
    about:
      'How long the service may fail before those who watch are told, with an error that ends their subscription; 0: never, they wait until it is back.',
    unset: '300',
    ...wholeNumber(0, 86_400),
  },
  WATCH_HEARTBEAT_SECONDS: {
    about:
      'How often watching clients are pinged. One that does not answer a ping before the next is let go; proxies in between should allow silences longer than this.',
    unset: '15',
    ...wholeNumber(1, 3600),
  },
  MAX_WATCHERS: {
    about:
      'How many subscriptions, and how many connections for them, one gateway process serves at once: each of the WORKERS for itself.',
    unset: '10000',
    ...wholeNumber(1, 1_000_000),
  },
  MAX_WATCHERS_PER_CLIENT: {
    about: 'How many of these one caller may have, at each of the WORKERS.',
    unset: '1000',
    ...wholeNumber(1, 1_000_000),
  },
} satisfies Record<string, Setting<unknown>>;

/** How live updates are served. */
export const readLive = (reader: SettingsReader): LiveConfig => ({
  maxWatchers: reader.get('MAX_WATCHERS', WATCHING_SETTINGS.MAX_WATCHERS) ?? 10_000,
  maxWatchersPerClient:
    reader.get('MAX_WATCHERS_PER_CLIENT', WATCHING_SETTINGS.MAX_WATCHERS_PER_CLIENT) ?? 1000,
  heartbeatMs:
    (reader.get('WATCH_HEARTBEAT_SECONDS', WATCHING_SETTINGS.WATCH_HEARTBEAT_SECONDS) ?? 15) * 1000,
});

/** Polling intervals for callers that do not subscribe: as right after a change of a watched payment. */
export const pollAfterFor = ({ schedule: { payer, provider } }: WatchSettings): PollAfter =>
  pollAfter({ payer: payer[0]?.everyMs ?? 0, provider: provider[0]?.everyMs ?? 0 });

/** When watched transactions are looked at. */
export function readWatching(reader: SettingsReader): WatchSettings {
  const pace = (name: 'PAYER' | 'PROVIDER' | 'MISPAID', unset: Pace): Pace =>
    reader.get(`WATCH_PACE_${name}`, WATCHING_SETTINGS[`WATCH_PACE_${name}`]) ?? unset;
  return {
    schedule: {
      payer: pace('PAYER', DEFAULT_SCHEDULE.payer),
      provider: pace('PROVIDER', DEFAULT_SCHEDULE.provider),
      mispaid: pace('MISPAID', DEFAULT_SCHEDULE.mispaid),
    },
    outageMs: (reader.get('WATCH_OUTAGE_SECONDS', WATCHING_SETTINGS.WATCH_OUTAGE_SECONDS) ?? 300) * 1000,
  };
}
