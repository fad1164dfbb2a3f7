/**
 * Matches the start of a text that a spreadsheet evaluates as a formula (CSV injection). Clients choose the idempotency
 * keys and external ids in CSV files, so a client can inject such a text.
 */
const FORMULA_START_PATTERN = /^[=+\-@\t\r\n]/;

/** Returns a text as a cell of CSV (RFC 4180). Puts an apostrophe before text that looks like a formula. */
export function csvCell(text: string): string {
  const nonFormulaText = FORMULA_START_PATTERN.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(nonFormulaText) ? `"${nonFormulaText.replaceAll('"', '""')}"` : nonFormulaText;
}

/** Returns a record of CSV (RFC 4180) with its line end. Null becomes an empty cell. */
export const csvRecord = (cells: readonly (string | null)[]): string =>
  `${cells.map((cell) => csvCell(cell ?? '')).join(',')}\r\n`;
