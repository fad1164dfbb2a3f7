import { useEffect, useState, useSyncExternalStore } from 'react';
import { connection } from './gateway.ts';

/** Shorter outages, as while a gateway is started again, are not shown. */
const OUTAGE_DELAY_MS = 3000;

/**
 * Whether what the page shows of a payment may be old: it has not been connected, or has been waiting for the first result,
 * for some seconds.
 * @param waiting whether the first result is still to come
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
