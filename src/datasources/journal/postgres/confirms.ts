import type {
  ConfirmBeginResult,
  ConfirmClaim,
  ConfirmResult,
  ConfirmedInput,
  ConfirmedPayment,
} from '../journal';
import type { PostgresPool } from './pool';
import { UPSERT_CONFIRM, readBegunConfirm, readConfirmedInput, storable } from '../rows';

const BEGIN = `INSERT INTO confirms (service, channel, transaction_id, id, owner, lease_until, input_hash)
  VALUES ($1, $2, $3, $4, $5, $6, $7)
  ${UPSERT_CONFIRM} WHERE confirms.lease_until < $8 RETURNING suspect, suspect_hashes`;

/** Both in one statement: an instance that finds the right free finds the confirmed inputs as well. */
const RECORD = `WITH recorded AS (
  INSERT INTO confirmed (service, channel, transaction_id, input_hash, status, confirmed_at)
  SELECT service, channel, transaction_id, input_hash, status, confirmed_at FROM jsonb_to_recordset($2::jsonb)
    AS x(service text, channel text, transaction_id text, input_hash text, status text, confirmed_at bigint)
  ON CONFLICT DO NOTHING)`;

const END: Record<ConfirmResult['outcome'], string> = {
  known: `${RECORD} DELETE FROM confirms WHERE id = $1`,
  unknown: `${RECORD} UPDATE confirms SET lease_until = 0 WHERE id = $1`,
  not_carried_out: `${RECORD} UPDATE confirms SET lease_until = 0, input_hash = '' WHERE id = $1`,
};

const FIND = 'SELECT * FROM confirmed WHERE service = $1 AND channel = $2 AND transaction_id = $3';

/** Confirms in PostgreSQL: those under way, and the inputs that were carried out. */
export class PostgresConfirms {
  constructor(private readonly pool: PostgresPool) {}

  async begin(claim: ConfirmClaim): Promise<ConfirmBeginResult | null> {
    const { service, channel, transactionId, id, owner, leaseUntil, inputHash, now } = claim;
    const values = [service, channel, transactionId, id, owner, leaseUntil, inputHash, now];
    const [row] = await this.pool.query(BEGIN, values);
    return row ? readBegunConfirm(row) : null;
  }

  async end(id: string, { outcome, confirmed }: ConfirmResult): Promise<void> {
    const rows = confirmed.map(({ service, channel, transactionId, inputHash, status, confirmedAt }) => ({
      service,
      channel,
      transaction_id: transactionId,
      input_hash: inputHash,
      status: storable(status),
      confirmed_at: confirmedAt,
    }));
    await this.pool.query(END[outcome], [id, JSON.stringify(rows)]);
  }

  async confirmedInputs({ service, channel, transactionId }: ConfirmedPayment): Promise<ConfirmedInput[]> {
    return (await this.pool.query(FIND, [service, channel, transactionId])).map(readConfirmedInput);
  }
}
