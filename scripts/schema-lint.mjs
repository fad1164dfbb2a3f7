// Checks a schema: every part has a description, and every deprecation names a replacement or a date.
import { isIntrospectionType, isSpecifiedScalarType } from 'graphql';

const MIN_REASON = 20;

/** Yields a type, its fields with their arguments, and its enum values. */
function* partsOf(type) {
  yield { place: type.name, ...pick(type) };
  for (const field of Object.values(type.getFields?.() ?? {})) {
    yield { place: `${type.name}.${field.name}`, ...pick(field) };
    for (const arg of field.args ?? [])
      yield { place: `${type.name}.${field.name}.${arg.name}`, ...pick(arg) };
  }
  for (const value of type.getValues?.() ?? []) yield { place: `${type.name}.${value.name}`, ...pick(value) };
}

const pick = ({ name, description, deprecationReason }) => ({ name, description, deprecationReason });

/** Returns the error of a deprecation reason; undefined if it is valid. */
function deprecationError(reason, names) {
  if (reason.trim().length < MIN_REASON)
    return `its deprecation reason has fewer than ${MIN_REASON} characters.`;
  const replacements = [...reason.matchAll(/`([\w.]+)`/g)].map(([, name]) => name);
  const [missing] = replacements.filter((name) => !names.has(name));
  if (missing) return `its deprecation reason names ${missing}, which is not in the schema.`;
  if (replacements.length > 0 || /\b20\d\d-[01]\d-[0-3]\d\b/.test(reason)) return undefined;
  return 'its deprecation reason has neither a replacement in `backticks` nor a date such as 2027-03-01.';
}

/** Returns the errors of a schema, one line each. */
export function lintSchema(schema) {
  const types = Object.values(schema.getTypeMap()).filter(
    (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
  );
  const parts = types.flatMap((type) => [...partsOf(type)]);
  const names = new Set(parts.flatMap(({ name, place }) => [name, place]));
  return parts.flatMap(({ place, description, deprecationReason }) => {
    const errors = description?.trim() ? [] : ['it has no description.'];
    if (typeof deprecationReason === 'string') errors.push(deprecationError(deprecationReason, names) ?? []);
    return errors.flat().map((error) => `${place}: ${error}`);
  });
}
