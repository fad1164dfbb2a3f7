import type { WireObject } from '../schema/methods/sandbox-behaviour';
import { isObject, without } from './wire-object';

/** Runs of 13 to 19 digits, also in groups, that begin as card numbers do. */
const CARD_LIKE = /(?<!\d)[2-6](?:[ -]?\d){12,18}(?!\d)/g;

export function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let place = 0; place < digits.length; place += 1) {
    const digit = Number(digits[digits.length - 1 - place]);
    const doubled = digit * 2;
    sum += place % 2 === 0 ? digit : doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

export function holdsCardNumber(text: string): boolean {
  return (text.match(CARD_LIKE) ?? []).some((run) => passesLuhn(run.replace(/\D/g, '')));
}

/** First four and last four digits (spec 2.5); the length stays, so that it still looks like the card's number. */
export function maskCardNumber(pan: string): string {
  return pan.slice(0, 4) + '*'.repeat(Math.max(4, pan.length - 8)) + pan.slice(-4);
}

const SECRET_NAMES = new Set(['cvc', 'cvv', 'cvv2']);

/** The fields of a method whose fields are known: only `pan` and `cvc` may hold card data, the rules saw to that. */
export function withoutCardData(fields: WireObject): WireObject {
  const { pan } = fields;
  const rest = without(fields, 'pan', 'cvc');
  return typeof pan === 'string' ? { ...rest, pan: maskCardNumber(pan) } : rest;
}

/** The fields of a method that takes any: card data may stand anywhere in them. */
export function scrubbed(value: unknown): unknown {
  if (typeof value === 'string') {
    return value.replace(CARD_LIKE, (run) => maskCardNumber(run.replace(/\D/g, '')));
  }
  if (typeof value === 'number') return Math.abs(value) < 1e11 ? value : null;
  if (Array.isArray(value)) return value.map(scrubbed);
  if (isObject(value)) return scrubbedFields(value);
  return value;
}

export function scrubbedFields(fields: WireObject): WireObject {
  const kept = Object.entries(fields).filter(([name]) => !SECRET_NAMES.has(name.toLowerCase()));
  return Object.fromEntries(kept.map(([name, value]) => [name, scrubbed(value)]));
}
