import type { WireObject } from '../schema/methods/sandbox-behaviour';

export function isObject(value: unknown): value is WireObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Those of the named fields that are there. */
export function picked(from: WireObject, names: readonly string[]): WireObject {
  const present = names.filter((name) => Object.hasOwn(from, name));
  return Object.fromEntries(present.map((name) => [name, from[name]]));
}

export function without(from: WireObject, ...names: readonly string[]): WireObject {
  return Object.fromEntries(Object.entries(from).filter(([name]) => !names.includes(name)));
}
