import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describeFileError } from '../../shared/hot-reloaded-file';
import { parseJson, textOfFile } from '../../shared/json-text';
import { InputError, UsageError } from '../context';
import { readCsv } from './csv';
import { readRequest, type FileLine } from './settle-plan';

type Column = 'id' | 'key' | 'outcome' | 'transactionId' | 'status';
type Fields = Partial<Record<Column, string>>;

/** Columns by their names in lower case without blanks and punctuation. */
const COLUMNS = new Map<string, Column>([
  ['id', 'id'],
  ['attempt', 'id'],
  ['attemptid', 'id'],
  ['key', 'key'],
  ['idempotencykey', 'key'],
  ['outcome', 'outcome'],
  ['transactionid', 'transactionId'],
  ['status', 'status'],
]);

/** The fields of a row; other columns are ignored. @throws UsageError where a column is repeated or a value is no text */
function fieldsOf(cells: readonly [name: string, value: unknown][]): Fields {
  const fields: Fields = {};
  for (const [name, value] of cells) {
    const column = COLUMNS.get(name.toLowerCase().replace(/[^a-z]/g, ''));
    if (!column) continue;
    if (column in fields) throw new UsageError(`The column ${column} is repeated.`);
    if (value !== null && typeof value !== 'string') throw new UsageError(`${column}: expected a text.`);
    fields[column] = (value ?? '').trim();
  }
  return fields;
}

/** One row of a file; `read` throws a UsageError where it is malformed. */
interface Row {
  line: number;
  read(): Fields;
}

function csvRows(text: string): Row[] {
  const [header, ...records] = readCsv(text);
  const names = header?.cells ?? [];
  const columns = fieldsOf(names.map((name) => [name, '']));
  if (!('outcome' in columns) || !('id' in columns || 'key' in columns))
    throw new InputError('The first line has to name the columns id (or idempotencyKey) and outcome.');
  return records.map(({ line, cells }) => ({
    line,
    read: () => {
      if (cells.length !== names.length) throw new UsageError(`Expected ${names.length} columns.`);
      return fieldsOf(names.map((name, column) => [name, cells[column]]));
    },
  }));
}

function jsonRows(text: string): Row[] {
  const rows = text.split('\n').map((line, index) => ({ line: index + 1, text: line }));
  return rows
    .filter((row) => row.text.trim() !== '')
    .map(({ line, text: json }) => ({ line, read: () => fieldsOf(Object.entries(readObject(json))) }));
}

function readObject(json: string): object {
  try {
    const value = parseJson(json);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Falls through to the error below.
  }
  throw new UsageError('Expected a JSON object without repeated names.');
}

function readRow({ line, read }: Row, defaultStatus: string): FileLine {
  const result: FileLine = { line, name: '', key: null, request: null, error: null };
  try {
    const { id = '', key = '', outcome = '', transactionId, status } = read();
    result.name = id || key;
    if (id && key) result.key = key;
    const isUndecided = result.name !== '' && ['', 'unknown'].includes(outcome);
    if (!isUndecided)
      result.request = readRequest({
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

/** Reads a .csv or .jsonl file. @throws InputError where it has another format; errors of single lines are in the result */
export function readSettleFile(file: string, defaultStatus: string): FileLine[] {
  const extension = path.extname(file).toLowerCase();
  if (extension !== '.csv' && extension !== '.jsonl')
    throw new InputError(`${file}: expected the extension .csv or .jsonl.`);
  let text: string;
  try {
    text = textOfFile(readFileSync(file));
  } catch (error) {
    throw new InputError(`${file}: ${describeFileError(error)}.`);
  }
  const rows = extension === '.csv' ? csvRows(text) : jsonRows(text);
  if (rows.length === 0) throw new InputError(`${file} has no attempts.`);
  return rows.map((row) => readRow(row, defaultStatus));
}
