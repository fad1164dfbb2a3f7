import path from 'node:path';
import { describeFileError } from '../../shared/hot-reloaded-file';
import { parseStrictJson, readTextFile } from '../../shared/json-text';
import { InputError, UsageError } from '../context';
import { toSettleRequest, type SettleFileLine } from './settle-plan';

type SettleFileColumn = 'id' | 'key' | 'outcome' | 'transactionId' | 'status';
type RowFields = Partial<Record<SettleFileColumn, string>>;

/**
 * Maps the names of columns (in lower case, letters only) to the columns that `settle --file` reads. Several names can
 * mean the same column. All other columns are ignored.
 */
const COLUMN_BY_ALIAS = new Map<string, SettleFileColumn>([
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
function toRowFields(namesAndValues: readonly [name: string, value: unknown][]): RowFields {
  const fields: RowFields = {};
  for (const [name, value] of namesAndValues) {
    const canonicalColumn = COLUMN_BY_ALIAS.get(name.toLowerCase().replace(/[^a-z]/g, ''));
    if (!canonicalColumn) continue;
    if (canonicalColumn in fields)
      throw new UsageError(`${name}: an earlier field of the row has the same meaning (${canonicalColumn}).`);
    if (value !== null && typeof value !== 'string')
      throw new UsageError(`${canonicalColumn}: expected a string.`);
    fields[canonicalColumn] = (value ?? '').trim();
  }
  return fields;
}

interface SettleFileRow {
  /** The number of the row's first line, from 1. */
  lineNumber: number;
  /** Returns the fields of the row. @throws UsageError if the row is malformed */
  parseFields(): RowFields;
}

/** Matches one CSV cell (RFC 4180), quoted or not, and its terminator: comma, line break or end of the text. */
const CELL_PATTERN = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y;

/** Parses CSV. Skips records that have only blank cells. `lineNumber`: number of the record's first line, from 1. */
function parseCsv(csvText: string): { lineNumber: number; cells: string[] }[] {
  const records: { lineNumber: number; cells: string[] }[] = [];
  let lineNumber = 1;
  let record = { lineNumber, cells: [] as string[] };
  CELL_PATTERN.lastIndex = 0;
  while (CELL_PATTERN.lastIndex < csvText.length || record.cells.length > 0) {
    const [whole, quoted, plain = '', end] = CELL_PATTERN.exec(csvText) ?? [];
    if (whole === undefined) throw new InputError(`Line ${lineNumber} of the CSV file: malformed quotes.`);
    record.cells.push(quoted?.replaceAll('""', '"') ?? plain);
    lineNumber += whole.split('\n').length - 1;
    if (end === ',') continue;
    if (record.cells.some((cell) => cell.trim() !== '')) records.push(record);
    record = { lineNumber, cells: [] };
  }
  return records;
}

function parseCsvRows(csvText: string): SettleFileRow[] {
  const [{ cells: headerCells } = { cells: [] }, ...records] = parseCsv(csvText);
  const headerFields = toRowFields(headerCells.map((name) => [name, '']));
  if (!('outcome' in headerFields) || !('id' in headerFields || 'key' in headerFields))
    throw new InputError('Line 1 of the CSV file must name the columns id (or idempotencyKey) and outcome.');
  return records.map(({ lineNumber, cells }) => ({
    lineNumber,
    parseFields: () => {
      if (cells.length !== headerCells.length)
        throw new UsageError(`Expected ${headerCells.length} cells as in line 1.`);
      return toRowFields(headerCells.map((name, index) => [name, cells[index]]));
    },
  }));
}

const parseJsonLines = (text: string): SettleFileRow[] =>
  text
    .split('\n')
    .map((json, index) => ({ json, lineNumber: index + 1 }))
    .filter(({ json }) => json.trim() !== '')
    .map(({ json, lineNumber }) => ({
      lineNumber,
      parseFields: () => toRowFields(parseJsonObjectEntries(json)),
    }));

function parseJsonObjectEntries(json: string): [name: string, value: unknown][] {
  try {
    const value = parseStrictJson(json);
    if (typeof value === 'object' && value !== null) return Object.entries(value);
  } catch {
    // Ignore the syntax error, because the UsageError below reports it.
  }
  throw new UsageError('Expected one complete JSON object on this line, without duplicate fields.');
}

function parseRow({ lineNumber, parseFields }: SettleFileRow, defaultStatus: string): SettleFileLine {
  const common = {
    lineNumber,
    idOrKey: '',
    expectedKey: null as string | null,
    request: null,
    attempt: null,
  };
  try {
    const { id = '', key = '', outcome = '', transactionId, status } = parseFields();
    common.idOrKey = id || key;
    if (id && key) common.expectedKey = key;
    if (common.idOrKey !== '' && ['', 'unknown'].includes(outcome))
      return { ...common, state: 'left_unknown', refusal: null };
    const fields = { idOrKey: common.idOrKey, outcome, transactionId, status: status || defaultStatus };
    return { ...common, request: toSettleRequest(fields), state: 'ready', refusal: null };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { ...common, state: 'refused', refusal: error.message };
  }
}

/**
 * Reads the file of `attempts settle --file` (.csv or .jsonl). A malformed line gets the state `refused`.
 * @param defaultStatus status of the transaction for lines without a status
 * @throws InputError or UsageError if the whole file is unusable: unreadable, without attempts, another extension,
 *   unclosed quotes, or wrong columns in line 1
 */
export function readSettleFile(filePath: string, defaultStatus: string): SettleFileLine[] {
  const extension = path.extname(filePath).toLowerCase();
  if (extension !== '.csv' && extension !== '.jsonl')
    throw new InputError(`${filePath}: expected the extension .csv or .jsonl.`);
  let fileText: string;
  try {
    fileText = readTextFile(filePath);
  } catch (error) {
    throw new InputError(`${filePath}: ${describeFileError(error)}.`);
  }
  const rows = extension === '.csv' ? parseCsvRows(fileText) : parseJsonLines(fileText);
  if (rows.length === 0) throw new InputError(`${filePath} has no lines with attempts.`);
  return rows.map((row) => parseRow(row, defaultStatus));
}
