import type { Clock } from '../../../src/clock';
import { until } from '../../changes/support/feeds';
import { connected, type Place } from '../../journal/support/stores';
import { testGateway, type TestClient } from '../../support/gateway';

/** Nobody looks by itself while a test runs: what a watcher is told comes from what somebody else did. */
export const SELDOM = {
  WATCH_PACE_PAYER: '1h',
  WATCH_PACE_PROVIDER: '1h',
  WATCH_PACE_MISPAID: '1h',
  PAYOUT_PREFLIGHT: 'off',
};

interface InstanceOptions {
  env?: Record<string, string>;
  clock?: Clock;
}

/** A gateway that shares a database with others. */
export const instanceIn = (
  place: Pick<Place, 'url'>,
  serviceUrl: string,
  { env, clock }: InstanceOptions = {},
): Promise<TestClient> =>
  testGateway(serviceUrl, { clock, env: { ...SELDOM, DATABASE_URL: place.url, ...env } });

/** Resolves when so many instances listen to the others. */
export async function listening(url: string, count: number): Promise<void> {
  await connected(url, (client) =>
    until(`${count} instances listen`, async () => {
      const { rows } = await client.query(
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND query ~ '^(LISTEN paygraph_changes|SELECT pg_notify)'",
      );
      return rows.length >= count;
    }),
  );
}

/** Every change that instances told each other meanwhile. */
export function overheard(
  url: string,
  during: (soFar: readonly string[]) => Promise<unknown>,
): Promise<string[]> {
  return connected(url, async (client) => {
    const told: string[] = [];
    client.on('notification', ({ payload = '' }) => {
      // After sixteen characters that say who tells it.
      told.push(...(payload.slice(16).match(/.{30}/g) ?? []));
    });
    await client.query('LISTEN paygraph_changes');
    await during(told);
    return told;
  });
}
