import type { WireObject } from '../schema/methods/sandbox-behaviour';
import { plainText, type Rule } from './field-rules';
import { invalid } from './refusal';
import { isObject } from './wire-object';

/** The broken rules of one request, by field path, so that one answer names them all. */
export class Problems {
  private readonly rules = new Map<string, string>();

  add(path: string, rule: string): void {
    if (!this.rules.has(path)) this.rules.set(path, rule);
  }

  throwIfAny(): void {
    if (this.rules.size > 0) throw invalid(Object.fromEntries(this.rules));
  }
}

/** A client may have put anything into a name: only what looks like a field's name is repeated. */
function shownName(name: string): string {
  return /^[A-Za-z_][\w-]{0,39}$/.test(name) && !/\d{4}/.test(name) ? name : '(unnamed)';
}

/** Reads an object field by field. What nobody has asked for when it is finished is an unknown field. */
export class ObjectReader {
  private readonly asked = new Set<string>();

  constructor(
    private readonly source: WireObject,
    private readonly problems: Problems,
    private readonly path = '',
  ) {}

  /** A string that must be there. The empty string, and a recorded problem, where it is not. */
  required(name: string, rule: Rule = plainText): string {
    const value = this.optional(name, rule);
    if (!Object.hasOwn(this.source, name)) this.refuse(name, 'is required');
    return value ?? '';
  }

  optional(name: string, rule: Rule = plainText): string | undefined {
    this.asked.add(name);
    if (!Object.hasOwn(this.source, name)) return undefined;
    const value = this.source[name];
    if (typeof value !== 'string') {
      this.refuse(name, 'must be a string');
      return undefined;
    }
    const broken = rule(value);
    if (broken) this.refuse(name, broken);
    return value;
  }

  /** A whole number within bounds, which a form can only send as digits. */
  integer(name: string, bounds: { min: number; max: number; otherwise?: number }): number {
    this.asked.add(name);
    const given = Object.hasOwn(this.source, name) ? this.source[name] : bounds.otherwise;
    const value = typeof given === 'string' && /^\d{1,15}$/.test(given) ? Number(given) : given;
    if (typeof value === 'number' && Number.isInteger(value) && value >= bounds.min && value <= bounds.max) {
      return value;
    }
    this.refuse(name, `must be a whole number from ${bounds.min} to ${bounds.max}`);
    return bounds.min;
  }

  object(name: string): { reader: ObjectReader; fields: WireObject } {
    this.asked.add(name);
    const value = Object.hasOwn(this.source, name) ? this.source[name] : undefined;
    if (value === undefined) this.refuse(name, 'is required');
    else if (!isObject(value)) this.refuse(name, 'must be an object');
    const fields = isObject(value) ? value : {};
    return { reader: new ObjectReader(fields, this.problems, `${this.path}${name}.`), fields };
  }

  refuse(name: string, rule: string): void {
    this.problems.add(this.path + name, rule);
  }

  finish(): void {
    for (const name of Object.keys(this.source)) {
      if (!this.asked.has(name)) this.refuse(shownName(name), 'is unknown');
    }
  }
}
