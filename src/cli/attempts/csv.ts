/** Comma-separated values (RFC 4180). */

import { InputError } from '../context';

/** A record with the number of its first line. */
export interface CsvRecord {
  line: number;
  cells: string[];
}

/** A quoted or a plain cell, and the comma or line end after it. */
const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y;

/** Reads a text without its empty lines. @throws InputError where quotes are malformed */
export function readCsv(text: string): CsvRecord[] {
  const records: CsvRecord[] = [];
  let line = 1;
  let record: CsvRecord = { line, cells: [] };
  CELL.lastIndex = 0;
  while (CELL.lastIndex < text.length || record.cells.length > 0) {
    const [whole, quoted, plain = '', end] = CELL.exec(text) ?? [];
    if (whole === undefined) throw new InputError(`Line ${line}: the quotes of a cell are malformed.`);
    record.cells.push(quoted?.replaceAll('""', '"') ?? plain);
    line += whole.split('\n').length - 1;
    if (end === ',') continue;
    if (record.cells.some((cell) => cell.trim() !== '')) records.push(record);
    record = { line, cells: [] };
  }
  return records;
}

/** Start of a cell that a spreadsheet evaluates as a formula. Callers choose keys and external ids. */
const FORMULA = /^[=+\-@\t\r]/;

function cell(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A record as a line without its end. Puts an apostrophe before a cell that a spreadsheet would evaluate. */
export const csvLine = (cells: readonly string[]): string => cells.map(cell).join(',');
