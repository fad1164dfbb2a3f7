import type { Clock } from '../../shared/clock';
import type { ChangeNotifier } from './change-notifier';
import { PostgresNotifier } from './postgres-notifier';

/** With a SQLite journal there is only one instance. */
const NO_PEERS: ChangeNotifier = {
  hasPeers: false,
  publish: () => undefined,
  subscribe: () => undefined,
  close: () => Promise.resolve(),
};

interface NotifierOptions {
  databaseUrl: string;
  clock: Clock;
  /** Called with `false` when the connection is lost, and with `true` when it is back. */
  onReach?: ((reached: boolean) => void) | undefined;
}

/** Connects to the other instances on the same database, and reconnects until the notifier is closed. */
export function createNotifier({ databaseUrl, clock, onReach }: NotifierOptions): ChangeNotifier {
  return databaseUrl.startsWith('file:') ? NO_PEERS : new PostgresNotifier(databaseUrl, clock, onReach);
}
