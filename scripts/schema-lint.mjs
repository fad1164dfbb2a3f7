// What a schema owes its readers: a description everywhere, and deprecations that say where to go and until when.
import { isIntrospectionType, isSpecifiedScalarType } from 'graphql';

const MIN_REASON = 20;

/** Everything of a type that has a name: itself, its fields, their arguments, its values. */
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

/** What is wrong with a reason; undefined where nothing is. */
function faultOf(reason, names) {
  if (reason.trim().length < MIN_REASON)
    return `its deprecation says why in fewer than ${MIN_REASON} characters.`;
  const named = [...reason.matchAll(/`([\w.]+)`/g)].map(([, name]) => name);
  const [missing] = named.filter((name) => !names.has(name));
  if (missing) return `its deprecation names ${missing}, which is not in the schema.`;
  if (named.length > 0 || /\b20\d\d-[01]\d-[0-3]\d\b/.test(reason)) return undefined;
  return 'its deprecation names neither a replacement in `backticks` nor a day such as 2027-03-01.';
}

/** What a schema lacks, one line each. */
export function lacksOf(schema) {
  const types = Object.values(schema.getTypeMap()).filter(
    (type) => !isIntrospectionType(type) && !isSpecifiedScalarType(type),
  );
  const parts = types.flatMap((type) => [...partsOf(type)]);
  const names = new Set(parts.flatMap(({ name, place }) => [name, place]));
  return parts.flatMap(({ place, description, deprecationReason }) => {
    const lacks = description?.trim() ? [] : ['it has no description.'];
    if (typeof deprecationReason === 'string') lacks.push(faultOf(deprecationReason, names) ?? []);
    return lacks.flat().map((lack) => `${place}: ${lack}`);
  });
}
