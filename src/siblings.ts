/** What workers say to each other, by what it is about. Nothing secret may be said. */
export interface SiblingTopics {
  /** Transactions were seen in other states: hashes, in the form of src/datasources/changes/message.ts. */
  changes: string;
  /** What callers have taken from their minute, by the caller's id. */
  points: readonly (readonly [callerId: string, points: number])[];
}

/** What a process counts and measures of itself (src/metrics). Nothing secret may be in it. */
export type Report = readonly { name: string; type: string | number }[];

/** The other processes of one gateway, where several answer on its port (src/workers). */
export interface Siblings {
  /** Says something to all others, soon. Never throws, never waits; where nobody can be reached it is lost. */
  say<T extends keyof SiblingTopics>(topic: T, content: SiblingTopics[T]): void;
  /** Who hears what the others say about something; one listener for each topic. */
  hear<T extends keyof SiblingTopics>(topic: T, heard: (content: SiblingTopics[T]) => void): void;
  /** How this process makes a report of itself, which others show with their own. */
  reportWith(make: () => Promise<Report>): void;
  /**
   * Gives the own report and returns those of the others: as they are now, or as they were last where one does not answer
   * in time. Among them may be one of processes that have ended, of what they had counted. Never rejects.
   */
  exchangeReports(own: Report): Promise<readonly Report[]>;
  /** Whether one of the others watches something. */
  readonly othersWatch: boolean;
  /** Says whether something is watched here. */
  watch(something: boolean): void;
}
