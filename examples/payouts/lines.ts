import { readFileSync } from 'node:fs';
import type { CreatePayoutInput, PayoutMethodInput } from '@paygraph/client';
import { parse } from 'csv-parse/sync';

/** One payout of the list. */
export interface Line {
  /** Your unique reference: external id and idempotency key are derived from it. */
  reference: string;
  currency: string;
  value: string;
  method: PayoutMethodInput;
}

/** The list or the command line is invalid; the message is for the user. */
export class ListError extends Error {}

/** Converts a CSV row. The columns after `method` are the fields of that method; empty ones are left out. */
function lineOfRow({ reference, currency, value, method, ...columns }: Record<string, string>): unknown {
  const fields = Object.fromEntries(Object.entries(columns).filter(([, text]) => text !== ''));
  return { reference, currency, value, method: method && { [method]: fields } };
}

function parseList(file: string): unknown[] {
  try {
    const text = readFileSync(file, 'utf8');
    if (file.endsWith('.json')) return [JSON.parse(text) as unknown].flat();
    const rows = parse<Record<string, string>>(text, {
      bom: true,
      columns: true,
      trim: true,
      skip_empty_lines: true,
    });
    return rows.map(lineOfRow);
  } catch (error) {
    throw new ListError(`${file} cannot be read: ${(error as Error).message}`);
  }
}

/** Whether the four required values are present. The gateway validates the fields of the method. */
function isLine(value: unknown): value is Line {
  const line = Object(value) as Record<keyof Line, unknown>;
  const required = [line.reference, line.currency, line.value];
  return required.every((text) => typeof text === 'string' && text !== '') && typeof line.method === 'object';
}

/**
 * Returns the payouts of a CSV or JSON file.
 * @throws ListError if it cannot be read, lacks a required value, or has a reference twice
 */
export function readLines(file: string): Line[] {
  const lines = parseList(file);
  const seen = new Set<string>();
  return lines.map((line, index) => {
    const place = `${file}, payout ${index + 1}`;
    if (!isLine(line)) throw new ListError(`${place}: reference, currency, value and method are required.`);
    if (seen.has(line.reference)) throw new ListError(`${place}: an earlier payout has the same reference.`);
    seen.add(line.reference);
    return line;
  });
}

/**
 * Returns the input for a line. The key depends only on the reference, so that a line is the same payout in every run,
 * and a line that was changed after it was sent causes an IdempotencyConflictError, not a second payout.
 */
export const inputOf = (
  { reference, currency, value, method }: Line,
  channel: string,
): CreatePayoutInput => ({
  idempotencyKey: `payout ${reference}`,
  externalId: reference,
  channel,
  amount: { currency, value },
  method,
});
