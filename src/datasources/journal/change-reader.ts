import {
  comparePositions,
  countFollowedStatement,
  followCountFromRow,
  isOfOtherDatabase,
  lastPosition,
  newestStatement,
  purgedPosition,
  readChangesFromRows,
  readStatement,
  type Query,
} from './change-rows';
import {
  FIRST_POSITION,
  PositionExpired,
  type ChangePosition,
  type ChangeRange,
  type FollowCount,
  type ReadChanges,
} from './changes';
import { monotonicMs } from './deadline';
import type { Row, SqlValue } from './rows';
import type { Dialect } from './stored-values';

interface ChangeReaderOptions {
  dialect: Dialect;
  /** Reads without delaying creates. */
  read(text: string, values: SqlValue[]): Promise<Row[]>;
  /** Makes everything durable that was committed before the call. */
  sync(): Promise<void>;
  /**
   * Reads up to which id of a database transaction no transaction that writes changes is in progress. If omitted, none
   * of another kind delays changes.
   */
  readOwnHorizon?(): Promise<number>;
  /** Begins a new epoch if the database is not the one of the current epoch. */
  raiseEpoch(): Promise<void>;
}

/** Time in ms after which a transaction that delays changes is examined: whether it writes changes itself. */
const DELAYED_MS = 50;

/** Reads changes. What it returns is durable, so that no crash can lose it and assign its position to another change. */
export class ChangeReader {
  /** Position up to which changes are known to be durable. */
  #durableUntil: ChangePosition = FIRST_POSITION;

  /** The oldest transaction in progress, and since when this instance knows of it, by `monotonicMs`. */
  #oldest = { horizon: 0, since: 0 };

  constructor(private readonly options: ChangeReaderOptions) {}

  /** @throws PositionExpired */
  async readChanges(range: ChangeRange): Promise<ReadChanges> {
    const { dialect, readOwnHorizon } = this.options;
    let [first = {}, ...others] = await this.#read(readStatement(dialect, range));
    if (readOwnHorizon && this.#isDelayed(first))
      [first = {}, ...others] = await this.#read(readStatement(dialect, range, await readOwnHorizon()));
    const purged = purgedPosition(first);
    if (range.after && comparePositions(range.after, purged) < 0) throw new PositionExpired(purged);
    await this.#ensureDurable(lastPosition(first));
    return readChangesFromRows([first, ...others], range);
  }

  async newestChange(service: string, channel: string): Promise<ChangePosition> {
    const { dialect, readOwnHorizon } = this.options;
    const horizon = (await readOwnHorizon?.()) ?? 0;
    const [row = {}] = await this.#read(newestStatement(dialect, [service, channel], horizon));
    const newest = lastPosition(row);
    await this.#ensureDurable(newest);
    return newest ?? purgedPosition(row);
  }

  async countFollowed(service: string): Promise<FollowCount> {
    const { dialect, read } = this.options;
    const [row] = await read(countFollowedStatement(dialect), [service]);
    return followCountFromRow(row);
  }

  async #read({ text, values }: Query): Promise<Row[]> {
    const { read, raiseEpoch } = this.options;
    const rows = await read(text, values);
    if (!isOfOtherDatabase(rows[0])) return rows;
    await raiseEpoch();
    return read(text, values);
  }

  /** Whether one transaction has been delaying changes for some time. */
  #isDelayed(row: Row): boolean {
    const horizon = Number(row['horizon']);
    const now = monotonicMs();
    if (horizon !== this.#oldest.horizon) this.#oldest = { horizon, since: now };
    return row['is_behind'] === true && now - this.#oldest.since > DELAYED_MS;
  }

  async #ensureDurable(position: ChangePosition | null): Promise<void> {
    if (!position || comparePositions(position, this.#durableUntil) <= 0) return;
    await this.options.sync();
    if (comparePositions(position, this.#durableUntil) > 0) this.#durableUntil = position;
  }
}
