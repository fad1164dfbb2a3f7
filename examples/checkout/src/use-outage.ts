import { useEffect, useState, useSyncExternalStore } from 'react';
import { connection } from './gateway.ts';

/** Minimum duration of outages that are shown; a restart of a gateway takes less. */
const OUTAGE_DELAY_MS = 3000;

/**
 * Whether the shown payment may be out of date, because for some seconds the page has not been connected or has been
 * waiting for the first result.
 * @param waiting whether the first result has not arrived yet
 */
export function useOutage(waiting: boolean): boolean {
  const connected = useSyncExternalStore(connection.onChange, connection.isConnected);
  const [lasting, setLasting] = useState(false);
  const out = waiting || !connected;
  useEffect(() => {
    setLasting(false);
    if (!out) return;
    const timer = setTimeout(() => setLasting(true), OUTAGE_DELAY_MS);
    return () => clearTimeout(timer);
  }, [out]);
  return out && lasting;
}
