import { registerEnumType } from 'type-graphql';

/** Union type of the values of an enum that was created by registerEnum(). */
export type ValueOf<E> = E[keyof E];

/** Registers a GraphQL enum. Returns an object with one property for each value; its name is also its value. */
export function registerEnum<V extends string>(
  name: string,
  description: string,
  descriptionByValue: Readonly<Record<V, string>>,
): { readonly [K in V]: K } {
  const entries = Object.entries<string>(descriptionByValue);
  const enumObject: Record<string, string> = Object.fromEntries(entries.map(([value]) => [value, value]));
  const valuesConfig = Object.fromEntries(entries.map(([value, text]) => [value, { description: text }]));
  registerEnumType(enumObject, { name, description, valuesConfig });
  return enumObject as { readonly [K in V]: K };
}

/**
 * Returns the enum value whose name is `rawValue`, a word from the service in upper or lower case. Returns
 * `unknownValue` if the enum has no such value.
 */
export const toEnumValue = <V extends string>(
  enumObject: { readonly [K in V]: K },
  unknownValue: V,
  rawValue: string,
): V => Object.values<V>(enumObject).find((value) => value === rawValue.toUpperCase()) ?? unknownValue;
