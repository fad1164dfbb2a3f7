import { useEffect, useState, useSyncExternalStore } from 'react';
import { connection } from './gateway.ts';

/** Minimum duration of outages that are shown; a restart of a gateway takes less. */
const OUTAGE_DELAY_MS = 3000;

/**
 * Whether the shown payment may be out of date, because for some seconds the page has not been connected or has been
 * waiting for the first result.
 * @param isWaiting whether the first result has not arrived yet
 */
export function useOutage(isWaiting: boolean): boolean {
  const isConnected = useSyncExternalStore(connection.onChange, connection.isConnected);
  const [isLasting, setIsLasting] = useState(false);
  const isOut = isWaiting || !isConnected;
  useEffect(() => {
    setIsLasting(false);
    if (!isOut) return;
    const timer = setTimeout(() => setIsLasting(true), OUTAGE_DELAY_MS);
    return () => clearTimeout(timer);
  }, [isOut]);
  return isOut && isLasting;
}
