import { readFileSync } from 'node:fs';
import path from 'node:path';
import { RepeatedNameError, parseJson } from '../../shared/json-text';
import { InputError } from '../context';
import { readCsv } from './csv';
import { readRequest, type SettleRequest } from './settle-request';

/** One line of a file: what it asks for, `null` where it leaves its attempt unknown, or in words what is wrong. */
export interface FileLine {
  line: number;
  /** The attempt as the line names it. */
  name: string;
  /** The idempotency key, where the line gives it beside the attempt's id: both must name the same attempt. */
  key: string | null;
  request: SettleRequest | string | null;
}

/** The columns that are read, by their names without capitals, blanks and marks. */
const COLUMNS: Readonly<Record<string, keyof Fields>> = {
  id: 'id',
  attempt: 'id',
  attemptid: 'id',
  key: 'key',
  idempotencykey: 'key',
  outcome: 'outcome',
  transactionid: 'transactionId',
  status: 'status',
};

interface Fields {
  id?: string;
  key?: string;
  outcome?: string;
  transactionId?: string;
  status?: string;
}

const columnOf = (name: string): keyof Fields | undefined => {
  const plain = name.toLowerCase().replace(/[^a-z]/g, '');
  return Object.hasOwn(COLUMNS, plain) ? COLUMNS[plain] : undefined;
};

/** Whether two columns that are read are the same. */
function namesTwice(columns: readonly (keyof Fields | undefined)[]): boolean {
  const read = columns.filter((column) => column !== undefined);
  return new Set(read).size < read.length;
}

/** Reads what a .csv or .jsonl file asks for. Throws an InputError where it cannot be read as one. */
export function readSettleFile(file: string, defaultStatus: string): FileLine[] {
  const type = path.extname(file).toLowerCase();
  if (type !== '.csv' && type !== '.jsonl')
    throw new InputError(`${file}: expected a file whose name ends in .csv or .jsonl.`);
  const text = read(file);
  const rows = type === '.csv' ? csvRows(text, file) : jsonRows(text);
  if (rows.length === 0) throw new InputError(`${file} has no attempts.`);
  return rows.map(({ line, fields }) => {
    if (typeof fields === 'string') return { line, name: '', key: null, request: fields };
    const { id, key, outcome = '', transactionId, status } = fields;
    const name = id || key || '';
    const both = id && key ? key : null;
    // As `attempts list` exports it: nobody has decided about it.
    if (name !== '' && (outcome === '' || outcome === 'unknown'))
      return { line, name, key: both, request: null };
    const request = readRequest({ attempt: name, outcome, transactionId, status: status || defaultStatus });
    return { line, name, key: both, request };
  });
}

function read(file: string): string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file));
    return text;
  } catch (error) {
    const { code } = Object.assign({ code: 'unknown' }, error);
    throw new InputError(`${file} cannot be read (${code}).`);
  }
}

interface Row {
  line: number;
  fields: Fields | string;
}

function csvRows(text: string, file: string): Row[] {
  const [header, ...records] = readCsv(text);
  const columns = (header?.cells ?? []).map(columnOf);
  if (!columns.includes('outcome') || !(columns.includes('id') || columns.includes('key')))
    throw new InputError(
      `${file}: expected the columns id (or idempotencyKey) and outcome in its first line.`,
    );
  if (namesTwice(columns)) throw new InputError(`${file}: a column stands twice in its first line.`);
  return records.map(({ line, cells }) => {
    if (cells.length !== columns.length)
      return { line, fields: `Expected ${columns.length} columns, as in the first line.` };
    return { line, fields: fieldsOf(columns.map((column, place) => [column, cells[place] ?? ''])) };
  });
}

function jsonRows(text: string): Row[] {
  return text.split('\n').flatMap((each, place): Row[] => {
    if (each.trim() === '') return [];
    return [{ line: place + 1, fields: jsonFields(each) }];
  });
}

const TWICE = 'A name stands twice.';

function jsonFields(text: string): Fields | string {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (error) {
    if (error instanceof RepeatedNameError) return TWICE;
    return 'Expected a JSON object.';
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'Expected a JSON object.';
  const entries = Object.entries(value).map(([name, cell]): [keyof Fields | undefined, unknown] => [
    columnOf(name),
    cell,
  ]);
  if (namesTwice(entries.map(([name]) => name))) return TWICE;
  const isWrong = entries.some(([name, cell]) => name && cell !== null && typeof cell !== 'string');
  if (isWrong) return 'Expected texts.';
  return fieldsOf(entries.map(([name, cell]) => [name, typeof cell === 'string' ? cell : '']));
}

function fieldsOf(cells: readonly [keyof Fields | undefined, string][]): Fields {
  const fields: Fields = {};
  for (const [name, text] of cells) if (name) fields[name] = text.trim();
  return fields;
}
