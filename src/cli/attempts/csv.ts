/** Comma-separated values (RFC 4180). */

/** A record of a file, with the number of the line that it begins in. */
export interface CsvRecord {
  line: number;
  cells: string[];
}

const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y;

/** Reads a text. A record whose quotes are not closed, or are within a cell, has no cells. Empty lines are left out. */
export function readCsv(text: string): CsvRecord[] {
  const records: CsvRecord[] = [];
  let line = 1;
  for (let at = 0; at < text.length;) {
    const record: CsvRecord = { line, cells: [] };
    const end = readRecord(text, at, record.cells);
    const next = end ?? lineEnd(text, at);
    if (end === undefined) record.cells = [];
    line += text.slice(at, next).split('\n').length - 1;
    at = next;
    if (end === undefined || record.cells.some((cell) => cell.trim() !== '')) records.push(record);
  }
  return records;
}

/** Where the record that begins there ends; undefined where it is malformed. */
function readRecord(text: string, from: number, cells: string[]): number | undefined {
  for (let at = from; ;) {
    CELL.lastIndex = at;
    const [whole, quoted, plain = '', end] = CELL.exec(text) ?? [];
    if (whole === undefined) return undefined;
    cells.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    at += whole.length;
    if (end !== ',') return at;
  }
}

const lineEnd = (text: string, from: number): number => {
  const end = text.indexOf('\n', from);
  return end < 0 ? text.length : end + 1;
};

/** Start of a cell that a spreadsheet evaluates as a formula. Callers choose keys and external ids. */
const FORMULA = /^[=+\-@\t\r]/;

function cell(value: string | null): string {
  const text = value ?? '';
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** A record as a line without its end. A cell that a spreadsheet would take for a formula gets an apostrophe before it. */
export const csvLine = (cells: readonly (string | null)[]): string => cells.map(cell).join(',');
