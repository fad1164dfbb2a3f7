/** Reading what the service sent: nothing here trusts a type, and nothing here throws. */

/** A JSON object as it stands on the wire. */
export type WireObject = Record<string, unknown>;

/** Whether a value is a JSON object (and not null or a list). */
export const isWireObject = (value: unknown): value is WireObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A value as text: strings as they are, numbers and booleans written out, anything else null. */
export function wireText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

/** `cardMask` as `card_mask`: how every field is spelled on the wire unless its room says otherwise. */
export const snakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);

/** The fields of an input that were given, in wire spelling. */
export function toWireFields(input: object): WireObject {
  const given = Object.entries(input).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [snakeCase(name), value]));
}
