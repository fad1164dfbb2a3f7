import { registerEnumType } from 'type-graphql';

/** The union of the values of an enum that registerEnum() returned. */
export type EnumValue<E> = E[keyof E];

/** Registers a GraphQL enum. `values` maps each value to its description, in the order of the schema. */
export function registerEnum<V extends string>(
  name: string,
  description: string,
  values: Readonly<Record<V, string>>,
): { readonly [K in V]: K } {
  const entries = Object.entries<string>(values);
  const enumObject: Record<string, string> = Object.fromEntries(entries.map(([value]) => [value, value]));
  const valuesConfig = Object.fromEntries(entries.map(([value, text]) => [value, { description: text }]));
  registerEnumType(enumObject, { name, description, valuesConfig });
  return enumObject as { readonly [K in V]: K };
}

/** Returns the enum value with the name of a word of the service, ignoring case; `unknownValue` if there is none. */
export const toEnumValue = <V extends string>(
  values: { readonly [K in V]: K },
  unknownValue: V,
  raw: string,
): V => Object.values<V>(values).find((value) => value === raw.toUpperCase()) ?? unknownValue;
