/** State of a transaction that an instance has observed. Both fields are hashes, so that neither identifies a payer. */
export interface StateChange {
  /** Hash of the transaction: 22 characters of base64url. */
  name: string;
  /** Hash of its state: 8 characters of base64url. */
  state: string;
}

/** Publish/subscribe of state changes between instances. Lost changes are acceptable, because polling finds them. */
export interface ChangeNotifier {
  /** Whether other instances may exist. */
  readonly hasPeers: boolean;
  /** Sends a change to the other instances, batched. Never throws and never waits. */
  publish(change: StateChange): void;
  /** Sets the one listener for changes of other instances. */
  subscribe(onChange: (change: StateChange) => void): void;
  close(): Promise<void>;
}
