import { isObject, type WireObject } from '../shared/wire-object';
import { plainText, type Rule } from './field-rules';
import { invalid } from './http-error';

/** The violated rules of one request, by field path, so that one response names all of them. */
export class Problems {
  private readonly rules = new Map<string, string>();

  add(path: string, rule: string): void {
    if (!this.rules.has(path)) this.rules.set(path, rule);
  }

  throwIfAny(): void {
    if (this.rules.size > 0) throw invalid(Object.fromEntries(this.rules));
  }
}

/** An unknown name may contain a secret: returned only if it looks like the name of a field. */
const publicName = (name: string): string =>
  /^[A-Za-z_][\w-]{0,39}$/.test(name) && !/\d{4}/.test(name) ? name : '(unnamed)';

/** Reads an object field by field; `finish` rejects fields that were not read. */
export class ObjectReader {
  private readonly read = new Set<string>();

  constructor(
    private readonly source: WireObject,
    private readonly problems: Problems,
    private readonly path = '',
  ) {}

  has(name: string): boolean {
    return Object.hasOwn(this.source, name);
  }

  /** A required string. Records a problem and returns an empty string if it is absent. */
  required(name: string, rule: Rule = plainText): string {
    const value = this.optional(name, rule);
    if (!this.has(name)) this.reject(name, 'is required');
    return value ?? '';
  }

  optional(name: string, rule: Rule = plainText): string | undefined {
    const value = this.take(name);
    if (value === undefined) return undefined;
    if (typeof value !== 'string') {
      this.reject(name, 'must be a string');
      return undefined;
    }
    const violated = rule(value);
    if (violated) this.reject(name, violated);
    return value;
  }

  /** A required string with one of some values. */
  oneOf<const T extends string>(name: string, values: readonly T[]): T | undefined {
    const find = (text: string) => values.find((value) => value === text);
    return find(
      this.required(name, (text) => (find(text) ? undefined : `must be one of ${values.join(', ')}`)),
    );
  }

  /** An integer within bounds; as digits in a form. */
  integer(name: string, bounds: { min: number; max: number; otherwise?: number }): number {
    const given = this.take(name) ?? bounds.otherwise;
    const value = typeof given === 'string' && /^\d{1,15}$/.test(given) ? Number(given) : given;
    if (typeof value === 'number' && Number.isInteger(value) && value >= bounds.min && value <= bounds.max) {
      return value;
    }
    this.reject(name, `must be a whole number from ${bounds.min} to ${bounds.max}`);
    return bounds.min;
  }

  object(name: string): { reader: ObjectReader; fields: WireObject } {
    const value = this.take(name);
    if (value === undefined) this.reject(name, 'is required');
    else if (!isObject(value)) this.reject(name, 'must be an object');
    const fields = isObject(value) ? value : {};
    return { reader: new ObjectReader(fields, this.problems, `${this.path}${name}.`), fields };
  }

  reject(name: string, rule: string): void {
    this.problems.add(this.path + name, rule);
  }

  finish(): void {
    for (const name of Object.keys(this.source)) {
      if (!this.read.has(name)) this.reject(publicName(name), 'is unknown');
    }
  }

  private take(name: string): unknown {
    this.read.add(name);
    return this.has(name) ? this.source[name] : undefined;
  }
}
