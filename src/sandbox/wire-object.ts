import type { WireObject } from '../shared/wire-object';

/** Returns an object with those of the named fields that are present. */
export function pick(from: WireObject, names: readonly string[]): WireObject {
  const present = names.filter((name) => Object.hasOwn(from, name));
  return Object.fromEntries(present.map((name) => [name, from[name]]));
}

export const omit = (from: WireObject, ...names: readonly string[]): WireObject =>
  Object.fromEntries(Object.entries(from).filter(([name]) => !names.includes(name)));
