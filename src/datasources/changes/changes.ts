/** A transaction was seen in a state: told between instances, without anything that says whose or what it is. */
export interface Change {
  /** Names the transaction: 22 characters of base64url, a hash. */
  name: string;
  /** Names the state it was seen in: 8 characters of base64url. Equal states have equal names. */
  state: string;
}

/** Lets the instances of one gateway tell each other of changes. Hints only: what is lost is found by polling. */
export interface ChangeFeed {
  /** Whether anybody else could hear what is told now: where not, nothing needs to be told. */
  readonly reachesOthers: boolean;
  /** Whether this instance can hear others, now or later. */
  readonly hearsOthers: boolean;
  /** Something more is watched here, for which others are listened to. Returns what to call, once, when it no longer is. */
  listen(): () => void;
  /** Says it to the other instances, soon and together with others. Never throws, never waits. */
  tell(change: Change): void;
  /** Who hears what other instances say; one listener. */
  onChange(heard: (change: Change) => void): void;
  close(): Promise<void>;
}
