import type { Report, SiblingTopics } from '../siblings';

/** Something said to all siblings. */
export type Said = {
  [T in keyof SiblingTopics]: { topic: T; content: SiblingTopics[T] };
}[keyof SiblingTopics];

/** What a worker is started with. */
export interface WorkerStart {
  /**
   * The settings by name, with the texts of secrets: every worker is set alike, also one that is started later. They
   * pass through a pipe between two processes of one user, and are nowhere written down.
   */
  settings: Readonly<Record<string, string | undefined>>;
  /** The embedded sandbox, which runs in the primary; null with a real service. */
  sandbox: { url: string; id: string } | null;
}

/** What the primary tells a worker. */
export type ToWorker =
  | { kind: 'start'; start: WorkerStart }
  /** Fail readiness and ask clients to go elsewhere, but serve them. */
  | { kind: 'drain' }
  /** Take no more work, let what is under way end, and exit. */
  | { kind: 'stop' }
  /** Another worker said it. */
  | { kind: 'said'; said: Said }
  /** Report. */
  | { kind: 'report'; id: number }
  /** What the others report. */
  | { kind: 'reports'; id: number; reports: readonly Report[] }
  /** Whether one of the others watches something. */
  | { kind: 'othersWatch'; others: boolean };

/** What a worker tells the primary. */
export type ToPrimary =
  /** It waits for its start. */
  | { kind: 'ready' }
  | { kind: 'listening'; url: string }
  /** It could not start; in words for the operator. */
  | { kind: 'fault'; why: string }
  | { kind: 'say'; said: Said }
  /** What it reports, as it was asked for. */
  | { kind: 'report'; id: number; report: Report }
  /** What it reports; it wants to know what the others do. */
  | { kind: 'exchange'; id: number; report: Report }
  /** Whether it watches something. */
  | { kind: 'watch'; something: boolean };
