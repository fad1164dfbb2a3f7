/** A JSON object. Objects of the payment service's API have wire names: field names in snake_case. */
export type WireObject = Record<string, unknown>;

/** Whether a value is an object, but neither null nor an array. */
export const isObject = (value: unknown): value is WireObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns a string, number or boolean as text; null for other values. */
export function scalarToText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

/** Returns the default wire name of a field, for example `card_mask` for `cardMask`. */
export const snakeCase = (fieldName: string): string =>
  fieldName.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);

/**
 * Returns the fields of an input, with each name converted to its wire name. Omits fields that are null or undefined.
 * Does not convert the names in nested objects.
 */
export function toWireFields(input: object): WireObject {
  const presentEntries = Object.entries(input).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(presentEntries.map(([name, value]) => [snakeCase(name), value]));
}
