/** A JSON object with wire names. */
export type WireObject = Record<string, unknown>;

/** Whether a value is a JSON object, neither null nor an array. */
export const isObject = (value: unknown): value is WireObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A string, number or boolean as text; otherwise null. */
export function wireText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}

/** `cardMask` as `card_mask`: the default wire name of a field. */
export const snakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);

/** The present fields of an input, with wire names. */
export function toWireFields(input: object): WireObject {
  const given = Object.entries(input).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [snakeCase(name), value]));
}
