import path from 'node:path';
import { describeFileError } from '../../shared/hot-reloaded-file';
import { parseJson, readTextFile } from '../../shared/json-text';
import { InputError, UsageError } from '../context';
import { toSettleRequest, type SettleFileLine } from './settle-plan';

type SettleFileColumn = 'id' | 'key' | 'outcome' | 'transactionId' | 'status';
type RowFields = Partial<Record<SettleFileColumn, string>>;

/**
 * Maps the names of columns (in lower case, letters only) to the columns that `settle --file` reads. Several names can
 * mean the same column. All other columns are ignored.
 */
const COLUMN_BY_NAME = new Map<string, SettleFileColumn>([
  ['id', 'id'],
  ['attempt', 'id'],
  ['attemptid', 'id'],
  ['key', 'key'],
  ['idempotencykey', 'key'],
  ['outcome', 'outcome'],
  ['transactionid', 'transactionId'],
  ['status', 'status'],
]);

/** Returns the known fields of a row. @throws UsageError if a field is repeated, or is neither a string nor null */
function toRowFields(entries: readonly [name: string, value: unknown][]): RowFields {
  const fields: RowFields = {};
  for (const [name, value] of entries) {
    const column = COLUMN_BY_NAME.get(name.toLowerCase().replace(/[^a-z]/g, ''));
    if (!column) continue;
    if (column in fields)
      throw new UsageError(`${name}: an earlier field of the row has the same meaning (${column}).`);
    if (value !== null && typeof value !== 'string') throw new UsageError(`${column}: expected a string.`);
    fields[column] = (value ?? '').trim();
  }
  return fields;
}

interface SettleFileRow {
  /** The number of the row's first line, from 1. */
  line: number;
  /** Returns the fields of the row. @throws UsageError if the row is malformed */
  parse(): RowFields;
}

/** Matches one CSV cell (RFC 4180), quoted or not, and its terminator: comma, line break or end of the text. */
const CELL_PATTERN = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y;

/** Parses CSV. Skips records that have only blank cells. `line`: number of the record's first line, from 1. */
function parseCsv(text: string): { line: number; cells: string[] }[] {
  const records: { line: number; cells: string[] }[] = [];
  let line = 1;
  let record = { line, cells: [] as string[] };
  CELL_PATTERN.lastIndex = 0;
  while (CELL_PATTERN.lastIndex < text.length || record.cells.length > 0) {
    const [whole, quoted, plain = '', end] = CELL_PATTERN.exec(text) ?? [];
    if (whole === undefined) throw new InputError(`Line ${line} of the CSV file: malformed quotes.`);
    record.cells.push(quoted?.replaceAll('""', '"') ?? plain);
    line += whole.split('\n').length - 1;
    if (end === ',') continue;
    if (record.cells.some((cell) => cell.trim() !== '')) records.push(record);
    record = { line, cells: [] };
  }
  return records;
}

function parseCsvRows(text: string): SettleFileRow[] {
  const [{ cells: header } = { cells: [] }, ...records] = parseCsv(text);
  const columns = toRowFields(header.map((name) => [name, '']));
  if (!('outcome' in columns) || !('id' in columns || 'key' in columns))
    throw new InputError('Line 1 of the CSV file must name the columns id (or idempotencyKey) and outcome.');
  return records.map(({ line, cells }) => ({
    line,
    parse: () => {
      if (cells.length !== header.length)
        throw new UsageError(`Expected ${header.length} cells as in line 1.`);
      return toRowFields(header.map((name, index) => [name, cells[index]]));
    },
  }));
}

const parseJsonLines = (text: string): SettleFileRow[] =>
  text
    .split('\n')
    .map((json, index) => ({ json, line: index + 1 }))
    .filter(({ json }) => json.trim() !== '')
    .map(({ json, line }) => ({ line, parse: () => toRowFields(Object.entries(parseJsonObject(json))) }));

function parseJsonObject(json: string): object {
  try {
    const value = parseJson(json);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Ignore the syntax error, because the UsageError below reports it.
  }
  throw new UsageError('Expected a JSON object in which no field occurs twice.');
}

function toSettleFileLine({ line, parse }: SettleFileRow, defaultStatus: string): SettleFileLine {
  const commonFields = { line, idOrKey: '', key: null as string | null, request: null, attempt: null };
  try {
    const { id = '', key = '', outcome = '', transactionId, status } = parse();
    commonFields.idOrKey = id || key;
    if (id && key) commonFields.key = key;
    if (commonFields.idOrKey !== '' && ['', 'unknown'].includes(outcome))
      return { ...commonFields, state: 'left_unknown', message: null };
    const fields = { idOrKey: commonFields.idOrKey, outcome, transactionId, status: status || defaultStatus };
    return { ...commonFields, request: toSettleRequest(fields), state: 'ready', message: null };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { ...commonFields, state: 'refused', message: error.message };
  }
}

/**
 * Reads the file of `attempts settle --file` (.csv or .jsonl). A malformed line gets the state `refused`.
 * @param defaultStatus status of the transaction for lines without a status
 * @throws InputError or UsageError if the whole file is unusable: unreadable, without attempts, another extension,
 *   unclosed quotes, or wrong columns in line 1
 */
export function readSettleFile(file: string, defaultStatus: string): SettleFileLine[] {
  const extension = path.extname(file).toLowerCase();
  if (extension !== '.csv' && extension !== '.jsonl')
    throw new InputError(`${file}: expected the extension .csv or .jsonl.`);
  let text: string;
  try {
    text = readTextFile(file);
  } catch (error) {
    throw new InputError(`${file}: ${describeFileError(error)}.`);
  }
  const rows = extension === '.csv' ? parseCsvRows(text) : parseJsonLines(text);
  if (rows.length === 0) throw new InputError(`${file} has no lines with attempts.`);
  return rows.map((row) => toSettleFileLine(row, defaultStatus));
}
