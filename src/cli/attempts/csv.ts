/** Comma-separated values (RFC 4180). */

import { InputError } from '../context';

/** A record of a CSV text; `line` is the number of its first line, from 1. */
export interface CsvRecord {
  line: number;
  cells: string[];
}

/** Matches a quoted or plain cell and the comma or line end after it. */
const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y;

/** Parses CSV; skips records with only blank cells. @throws InputError if quotes are malformed */
export function parseCsv(text: string): CsvRecord[] {
  const records: CsvRecord[] = [];
  let line = 1;
  let record: CsvRecord = { line, cells: [] };
  CELL.lastIndex = 0;
  while (CELL.lastIndex < text.length || record.cells.length > 0) {
    const [whole, quoted, plain = '', end] = CELL.exec(text) ?? [];
    if (whole === undefined) throw new InputError(`Line ${line} of the CSV file: malformed quotes.`);
    record.cells.push(quoted?.replaceAll('""', '"') ?? plain);
    line += whole.split('\n').length - 1;
    if (end === ',') continue;
    if (record.cells.some((cell) => cell.trim() !== '')) records.push(record);
    record = { line, cells: [] };
  }
  return records;
}

/** Start of a cell that a spreadsheet evaluates as a formula. A caller may choose such a key or external id. */
const FORMULA_START = /^[=+\-@\t\r]/;

function csvCell(text: string): string {
  const safe = FORMULA_START.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Returns cells as a CSV line without line end. Writes an apostrophe before a cell that looks like a formula. */
export const csvLine = (cells: readonly string[]): string => cells.map(csvCell).join(',');
