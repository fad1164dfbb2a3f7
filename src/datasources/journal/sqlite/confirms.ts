import type {
  ConfirmBeginResult,
  ConfirmClaim,
  ConfirmResult,
  ConfirmedInput,
  ConfirmedPayment,
} from '../journal';
import { UPSERT_CONFIRM, readBegunConfirm, readConfirmedInput, type Row } from '../rows';
import { sql, type SqliteThread, type Statement } from './thread';

const BEGIN = `INSERT INTO confirms (service, channel, transaction_id, id, owner, lease_until, input_hash)
  VALUES (?, ?, ?, ?, ?, ?, ?)
  ${UPSERT_CONFIRM} WHERE confirms.lease_until < ? RETURNING suspect, suspect_hashes`;

const END: Record<ConfirmResult['outcome'], string> = {
  known: 'DELETE FROM confirms WHERE id = ?',
  unknown: 'UPDATE confirms SET lease_until = 0 WHERE id = ?',
  not_carried_out: "UPDATE confirms SET lease_until = 0, input_hash = '' WHERE id = ?",
};

const RECORD = `INSERT INTO confirmed (service, channel, transaction_id, input_hash, status, confirmed_at)
  VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`;

const FIND = 'SELECT * FROM confirmed WHERE service = ? AND channel = ? AND transaction_id = ?';

/** Confirms in the SQLite file: those under way, and the inputs that were carried out. */
export class SqliteConfirms {
  constructor(private readonly thread: SqliteThread) {}

  async begin(claim: ConfirmClaim): Promise<ConfirmBeginResult | null> {
    const { service, channel, transactionId, id, owner, leaseUntil, inputHash, now } = claim;
    const params = [service, channel, transactionId, id, owner, leaseUntil, inputHash, now];
    const [row] = await this.#write(sql(BEGIN, ...params));
    return row ? readBegunConfirm(row) : null;
  }

  async end(id: string, { outcome, confirmed }: ConfirmResult): Promise<void> {
    const records = confirmed.map(({ service, channel, transactionId, inputHash, status, confirmedAt }) =>
      sql(RECORD, service, channel, transactionId, inputHash, status, confirmedAt),
    );
    await this.#write(...records, sql(END[outcome], id));
  }

  async confirmedInputs({ service, channel, transactionId }: ConfirmedPayment): Promise<ConfirmedInput[]> {
    const statements = [sql(FIND, service, channel, transactionId)];
    return (await this.thread.run({ write: false, statements })).map(readConfirmedInput);
  }

  #write(...statements: Statement[]): Promise<Row[]> {
    return this.thread.run({ write: true, statements });
  }
}
