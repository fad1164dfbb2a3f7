import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describeFileError } from '../../shared/hot-reloaded-file';
import { parseJson, decodeUtf8OrThrow } from '../../shared/json-text';
import { InputError, UsageError } from '../context';
import { parseCsv } from './csv';
import { toRequest, type FileLine } from './settle-plan';

type Column = 'id' | 'key' | 'outcome' | 'transactionId' | 'status';
type Fields = Partial<Record<Column, string>>;

/** Columns by their names, reduced to lower-case letters without spaces, digits and punctuation. */
const COLUMN_BY_NAME = new Map<string, Column>([
  ['id', 'id'],
  ['attempt', 'id'],
  ['attemptid', 'id'],
  ['key', 'key'],
  ['idempotencykey', 'key'],
  ['outcome', 'outcome'],
  ['transactionid', 'transactionId'],
  ['status', 'status'],
]);

/** Returns the known fields of a row. @throws UsageError if a column is repeated or a value is not a string */
function readFields(cells: readonly [name: string, value: unknown][]): Fields {
  const fields: Fields = {};
  for (const [name, value] of cells) {
    const column = COLUMN_BY_NAME.get(name.toLowerCase().replace(/[^a-z]/g, ''));
    if (!column) continue;
    if (column in fields) throw new UsageError(`The column ${column} is repeated.`);
    if (value !== null && typeof value !== 'string') throw new UsageError(`${column}: expected a string.`);
    fields[column] = (value ?? '').trim();
  }
  return fields;
}

/** A row of a file. */
interface Row {
  line: number;
  /** Returns the fields. @throws UsageError if the row is malformed */
  read(): Fields;
}

function csvRows(text: string): Row[] {
  const [header, ...records] = parseCsv(text);
  const names = header?.cells ?? [];
  const columns = readFields(names.map((name) => [name, '']));
  if (!('outcome' in columns) || !('id' in columns || 'key' in columns))
    throw new InputError('Line 1 of the CSV file must name the columns id (or idempotencyKey) and outcome.');
  return records.map(({ line, cells }) => ({
    line,
    read: () => {
      if (cells.length !== names.length) throw new UsageError(`Expected ${names.length} cells as in line 1.`);
      return readFields(names.map((name, column) => [name, cells[column]]));
    },
  }));
}

function jsonLinesRows(text: string): Row[] {
  const rows = text.split('\n').map((line, index) => ({ line: index + 1, text: line }));
  return rows
    .filter((row) => row.text.trim() !== '')
    .map(({ line, text: json }) => ({ line, read: () => readFields(Object.entries(readObject(json))) }));
}

function readObject(json: string): object {
  try {
    const value = parseJson(json);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Falls through to the error below.
  }
  throw new UsageError('Expected a JSON object whose names are not repeated.');
}

function readRow({ line, read }: Row, defaultStatus: string): FileLine {
  const result: FileLine = { line, name: '', key: null, request: null, error: null };
  try {
    const { id = '', key = '', outcome = '', transactionId, status } = read();
    result.name = id || key;
    if (id && key) result.key = key;
    const isLeftUnknown = result.name !== '' && ['', 'unknown'].includes(outcome);
    if (!isLeftUnknown)
      result.request = toRequest({
        attempt: result.name,
        outcome,
        transactionId,
        status: status || defaultStatus,
      });
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    result.error = error.message;
  }
  return result;
}

/** Reads a .csv or .jsonl file. The result contains errors of lines. @throws InputError if the file is unusable */
export function readSettleFile(file: string, defaultStatus: string): FileLine[] {
  const extension = path.extname(file).toLowerCase();
  if (extension !== '.csv' && extension !== '.jsonl')
    throw new InputError(`${file}: expected the extension .csv or .jsonl.`);
  let text: string;
  try {
    text = decodeUtf8OrThrow(readFileSync(file));
  } catch (error) {
    throw new InputError(`${file}: ${describeFileError(error)}.`);
  }
  const rows = extension === '.csv' ? csvRows(text) : jsonLinesRows(text);
  if (rows.length === 0) throw new InputError(`${file} has no lines with attempts.`);
  return rows.map((row) => readRow(row, defaultStatus));
}
