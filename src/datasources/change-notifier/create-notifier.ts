import type { Clock } from '../../shared/clock';
import type { ChangeNotifier } from './change-notifier';
import { PostgresNotifier } from './postgres-notifier';

/** Notifier for a SQLite journal, with which there is only one instance. */
const NO_PEERS: ChangeNotifier = {
  hasPeers: false,
  publish: () => undefined,
  subscribe: () => undefined,
  close: () => Promise.resolve(),
};

interface NotifierOptions {
  databaseUrl: string;
  clock: Clock;
  /** Called with `false` when the connection is lost, and with `true` when it is restored. */
  onConnectionChange?: ((isConnected: boolean) => void) | undefined;
}

/** Creates the notifier. With PostgreSQL, it connects to the database, and reconnects until it is closed. */
export function createNotifier({ databaseUrl, clock, onConnectionChange }: NotifierOptions): ChangeNotifier {
  return databaseUrl.startsWith('file:')
    ? NO_PEERS
    : new PostgresNotifier(databaseUrl, clock, onConnectionChange);
}
