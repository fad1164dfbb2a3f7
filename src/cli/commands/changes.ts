import { decodeCursor, encodeCursor } from '../../core/changes/cursor';
import {
  BEFORE_FIRST_CHANGE,
  PositionExpired,
  type ChangeRange,
  type RecordedChange,
} from '../../datasources/journal/changes';
import { findPaymentMethod, findPayoutMethod } from '../../schema/methods';
import { readChangePages } from '../change-pages';
import { openCliSession, type CliSession } from '../attempts/session';
import { InputError, type CommandContext } from '../context';
import { csvRecord } from '../csv';
import { isoTime } from '../terminal';

interface ChangesOptions {
  after?: string;
  channel?: string;
  format: 'csv' | 'jsonl';
  limit?: number;
}

const CHANGES_PER_PAGE = 1000;

/** Runs `paygraph changes`. */
export async function printChanges(
  context: CommandContext,
  { after: cursor, channel, format, limit = Infinity }: ChangesOptions,
): Promise<void> {
  const { terminal } = context;
  await using cliSession = await openCliSession(context);
  const { journal, serviceName } = cliSession;
  const range = {
    service: serviceName,
    channel: channel ?? null,
    clientByKind: { payment: null, payout: null },
  };
  let remainingCount = limit;
  let afterPosition = cursor === undefined ? null : decodeCursor(cursor);
  if (afterPosition === undefined) throw await invalidCursorError(cliSession, range);
  try {
    let outputText = format === 'csv' ? csvRecord(CHANGE_CSV_COLUMNS) : '';
    let hasUnreadableChanges = false;
    const getNextPageLimit = (): number => Math.min(CHANGES_PER_PAGE, remainingCount);
    for await (const page of readChangePages(journal, { ...range, after: afterPosition }, getNextPageLimit)) {
      outputText += page.changes.map(CHANGE_FORMATTERS[format]).join('');
      if (outputText !== '' && !(await terminal.printPart(outputText))) return;
      outputText = '';
      afterPosition = page.endPosition;
      remainingCount -= page.changes.length;
      if (remainingCount === 0) break;
      hasUnreadableChanges = page.hasUnreadableChanges;
    }
    if (hasUnreadableChanges)
      terminal.printMessage(
        'The newest changes cannot be read yet, because an earlier database transaction is in progress. Repeat the command later.',
      );
    terminal.printMessage(`next cursor: ${encodeCursor(afterPosition ?? BEFORE_FIRST_CHANGE)}`);
  } catch (error) {
    if (!(error instanceof PositionExpired)) throw error;
    throw new InputError(
      `--after: some changes after this cursor have been deleted. The oldest cursor is ${encodeCursor(error.oldestPosition)}; to check earlier transactions, run "paygraph reconcile".`,
    );
  }
}

/** Returns the error for a malformed --after. The message contains the oldest valid cursor. */
async function invalidCursorError(
  { journal }: CliSession,
  range: Omit<ChangeRange, 'after' | 'limit'>,
): Promise<InputError> {
  const oldestPosition = await journal.readChanges({ ...range, after: BEFORE_FIRST_CHANGE, limit: 1 }).then(
    () => BEFORE_FIRST_CHANGE,
    (error: unknown) => {
      if (error instanceof PositionExpired) return error.oldestPosition;
      throw error;
    },
  );
  return new InputError(`--after: expected a cursor. The oldest cursor is ${encodeCursor(oldestPosition)}.`);
}

const CHANGE_CSV_COLUMNS = [
  ...['cursor', 'recordedAt', 'kind', 'channel', 'transactionId', 'externalId', 'method'],
  ...['previousStatus', 'status', 'state', 'currency', 'value', 'received'],
];

function changeFields({ position, recordedAt, kind, method, ...change }: RecordedChange) {
  return {
    cursor: encodeCursor(position),
    recordedAt: isoTime(recordedAt),
    kind,
    channel: change.channel,
    transactionId: change.transactionId,
    externalId: change.externalId,
    /** Value of the GraphQL enum PaymentMethod or PayoutMethod. */
    method: (kind === 'payment' ? findPaymentMethod(method) : findPayoutMethod(method)).name,
    previousStatus: change.previousStatus,
    status: change.status,
    state: change.state,
    currency: change.currency,
    value: change.value,
    received: change.received,
  };
}

function changeCsvLine(change: RecordedChange): string {
  const valueByColumn: Readonly<Record<string, string | null>> = changeFields(change);
  return csvRecord(CHANGE_CSV_COLUMNS.map((column) => valueByColumn[column] ?? null));
}

/** Returns a change as a line of JSON: the PaymentChange or PayoutChange, without its field `payment` or `payout`. */
function changeJsonLine(change: RecordedChange): string {
  const { kind, state, currency, value, received, ...fields } = changeFields(change);
  const changeJson = {
    __typename: kind === 'payment' ? 'PaymentChange' : 'PayoutChange',
    ...fields,
    ...(kind === 'payment' && { state }),
    amount: { currency, value, received },
  };
  return `${JSON.stringify(changeJson)}\n`;
}

const CHANGE_FORMATTERS = { csv: changeCsvLine, jsonl: changeJsonLine };
