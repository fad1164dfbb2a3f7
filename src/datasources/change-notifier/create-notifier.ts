import type { Clock } from '../../shared/clock';
import type { ChangeNotifier } from './change-notifier';
import { PostgresNotifier } from './postgres-notifier';

/** A SQLite journal belongs to one instance: there are no peers. */
const NO_PEERS: ChangeNotifier = {
  hasPeers: false,
  isReceiving: false,
  addInterest: () => () => undefined,
  publish: () => undefined,
  subscribe: () => undefined,
  close: () => Promise.resolve(),
};

interface ChangesOptions {
  databaseUrl: string;
  clock: Clock;
  /** Called with `false` when the connection is lost, and with `true` when it is back. */
  onReach?: ((reached: boolean) => void) | undefined;
}

/** Connects to the other instances on the same database. A lost connection is retried until the notifier is closed. */
export function createNotifier({ databaseUrl, clock, onReach }: ChangesOptions): ChangeNotifier {
  return databaseUrl.startsWith('file:') ? NO_PEERS : new PostgresNotifier(databaseUrl, clock, onReach);
}
