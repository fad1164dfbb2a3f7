import { InvalidCursor, decodeCursor, encodeCursor } from '../../core/changes/cursor';
import {
  FIRST_POSITION,
  PositionExpired,
  type ChangeRange,
  type RecordedChange,
} from '../../datasources/journal/changes';
import { paymentMethodByType, payoutMethodByType } from '../../schema/methods';
import { isUuid } from '../../shared/uuid';
import { changePages } from '../change-pages';
import { openSession, type Session } from '../attempts/session';
import { EXIT, InputError, UsageError, type Context } from '../context';
import { csvRecord } from '../csv';

interface ChangesOptions {
  after?: string;
  channel?: string;
  format: string;
  limit?: string;
}

/** Maximum number of changes that are read at once. */
const PAGE = 1000;

const BEHIND_MESSAGE =
  'The newest changes cannot be read yet, because an earlier database transaction is in progress. Repeat the command later.';

/** Selects the changes of one channel, or of all (null). */
type Selection = Pick<ChangeRange, 'service' | 'channel' | 'creators'>;

/** Runs `paygraph changes`. Validates the options before the journal is opened. */
export async function changes(context: Context, options: ChangesOptions): Promise<number> {
  const { terminal } = context;
  const { channel, format } = options;
  if (channel !== undefined && !isUuid(channel)) throw new UsageError('--channel: expected a UUID.');
  if (format !== 'csv' && format !== 'jsonl') throw new UsageError('--format: expected csv or jsonl.');
  let remaining = readLimit(options.limit);
  await using session = await openSession(context);
  const { journal, service } = session;
  const creators = { payment: null, payout: null };
  const selection = { service, channel: channel?.toLowerCase() ?? null, creators };
  try {
    let after = options.after === undefined ? null : decodeCursor(options.after);
    let text = format === 'csv' ? csvRecord(CSV_COLUMNS) : '';
    let isBehind = false;
    for await (const page of changePages(journal, { ...selection, after }, () => Math.min(PAGE, remaining))) {
      text += page.changes.map(LINE_OF[format]).join('');
      if (text !== '' && !(await terminal.printPart(text))) return EXIT.done;
      text = '';
      after = page.readUntil;
      remaining -= page.changes.length;
      if (remaining === 0) break;
      isBehind = page.isBehind;
    }
    if (isBehind) terminal.printMessage(BEHIND_MESSAGE);
    terminal.printMessage(`next cursor: ${encodeCursor(after ?? FIRST_POSITION)}`);
    return EXIT.done;
  } catch (error) {
    throw await describeCursorError(error, session, selection);
  }
}

function readLimit(text: string | undefined): number {
  if (text === undefined) return Infinity;
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new UsageError('--limit: expected a positive whole number.');
}

/** Returns an error that names the oldest cursor if --after is malformed or too old; other errors unchanged. */
async function describeCursorError(
  error: unknown,
  { journal }: Session,
  selection: Selection,
): Promise<unknown> {
  if (error instanceof PositionExpired)
    return new InputError(
      `--after: changes after this cursor are deleted. The oldest cursor is ${encodeCursor(error.oldest)}; "paygraph reconcile" checks the time before it.`,
    );
  if (!(error instanceof InvalidCursor)) return error;
  const oldest = await journal.readChanges({ ...selection, after: FIRST_POSITION, limit: 1 }).then(
    () => FIRST_POSITION,
    (failure: unknown) => {
      if (failure instanceof PositionExpired) return failure.oldest;
      throw failure;
    },
  );
  return new InputError(`--after: this is not a cursor. The oldest cursor is ${encodeCursor(oldest)}.`);
}

const timeOf = ({ recordedAt }: RecordedChange): string => new Date(recordedAt).toISOString();

/** Returns the value of the GraphQL enum PaymentMethod or PayoutMethod. */
const methodOf = ({ kind, method }: RecordedChange): string =>
  (kind === 'payment' ? paymentMethodByType(method) : payoutMethodByType(method)).name;

/** Returns the change as the GraphQL type PaymentChange or PayoutChange, without the field that needs a lookup. */
function changeJson(change: RecordedChange) {
  const { position, kind, channel, transactionId, externalId, previousStatus, status, state } = change;
  const { currency, value, received } = change;
  return {
    __typename: kind === 'payment' ? 'PaymentChange' : 'PayoutChange',
    cursor: encodeCursor(position),
    recordedAt: timeOf(change),
    channel,
    transactionId,
    externalId,
    method: methodOf(change),
    previousStatus,
    status,
    ...(kind === 'payment' && { state }),
    amount: { currency, value, received },
  };
}

const CSV_COLUMNS = [
  ...['cursor', 'recordedAt', 'kind', 'channel', 'transactionId', 'externalId', 'method'],
  ...['previousStatus', 'status', 'state', 'currency', 'value', 'received'],
];

function csvCells(change: RecordedChange): (string | null)[] {
  const { position, kind, channel, transactionId, externalId, previousStatus, status, state } = change;
  const { currency, value, received } = change;
  return [
    ...[encodeCursor(position), timeOf(change), kind, channel, transactionId, externalId, methodOf(change)],
    ...[previousStatus, status, state, currency, value, received],
  ];
}

/** Returns a change as a line in each format. */
const LINE_OF = {
  csv: (change: RecordedChange) => csvRecord(csvCells(change)),
  jsonl: (change: RecordedChange) => `${JSON.stringify(changeJson(change))}\n`,
};
