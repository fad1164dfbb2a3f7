/** Matches the start of a cell that a spreadsheet evaluates as a formula, which a caller could put into a key or id. */
const FORMULA_START = /^[=+\-@\t\r\n]/;

/** Returns a cell of CSV (RFC 4180), with an apostrophe before text that looks like a formula. */
export function csvCell(text: string): string {
  const escapedText = FORMULA_START.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(escapedText) ? `"${escapedText.replaceAll('"', '""')}"` : escapedText;
}

/** Returns a record of CSV with its line end. Cells that are null are empty. */
export const csvRecord = (cells: readonly (string | null)[]): string =>
  `${cells.map((cell) => csvCell(cell ?? '')).join(',')}\r\n`;
