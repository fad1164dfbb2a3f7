/** The state of a transaction that an instance has seen. Both fields are hashes, so nothing in it identifies a payer. */
export interface StateChange {
  /** Hash of the transaction: 22 characters of base64url. */
  name: string;
  /** Hash of its state: 8 characters of base64url. */
  state: string;
}

/** Publish/subscribe of state changes between instances. Delivery is not guaranteed: a lost change is found by polling. */
export interface ChangeNotifier {
  /** Whether other instances may be listening. */
  readonly hasPeers: boolean;
  /** Whether this instance can receive changes of others, now or later. */
  readonly isReceiving: boolean;
  /** Listens while at least one subscription is interested. Returns a function that ends this interest; call it once. */
  addInterest(): () => void;
  /** Sends a change to the other instances, batched. Never throws and never waits. */
  publish(change: StateChange): void;
  /** Sets the one listener for changes of other instances. */
  subscribe(onChange: (change: StateChange) => void): void;
  close(): Promise<void>;
}
