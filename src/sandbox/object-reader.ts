import { isObject, type WireObject } from '../shared/wire-object';
import { plainText, type Rule } from './field-rules';
import { invalidRequest } from './http-error';

/** Collects the first violated rule of each field path, so that one response names all invalid fields. */
export class Problems {
  private readonly rules = new Map<string, string>();

  add(path: string, rule: string): void {
    if (!this.rules.has(path)) this.rules.set(path, rule);
  }

  throwIfAny(): void {
    if (this.rules.size > 0) throw invalidRequest(Object.fromEntries(this.rules));
  }
}

/** Returns an unknown name if it looks like a field name; otherwise `(unnamed)`, because it may contain a secret. */
const publicName = (name: string): string =>
  /^[A-Za-z_][\w-]{0,39}$/.test(name) && !/\d{4}/.test(name) ? name : '(unnamed)';

/** Reads an object field by field and records problems. `finish` records a problem for each field that was not read. */
export class ObjectReader {
  private readonly readNames = new Set<string>();

  constructor(
    private readonly source: WireObject,
    private readonly problems: Problems,
    private readonly path = '',
  ) {}

  has(name: string): boolean {
    return Object.hasOwn(this.source, name);
  }

  /** Reads a required string. Records a problem and returns an empty string if it is absent. */
  required(name: string, rule: Rule = plainText): string {
    const value = this.optional(name, rule);
    if (!this.has(name)) this.addProblem(name, 'is required');
    return value ?? '';
  }

  /** Reads an optional string. Records a problem and returns undefined if it is not a string. */
  optional(name: string, rule: Rule = plainText): string | undefined {
    const value = this.take(name);
    if (value === undefined) return undefined;
    if (typeof value !== 'string') {
      this.addProblem(name, 'must be a string');
      return undefined;
    }
    const violated = rule(value);
    if (violated) this.addProblem(name, violated);
    return value;
  }

  /** Reads a required string that must be one of `values`. */
  oneOf<const T extends string>(name: string, values: readonly T[]): T | undefined {
    const find = (text: string) => values.find((value) => value === text);
    return find(
      this.required(name, (text) => (find(text) ? undefined : `must be one of ${values.join(', ')}`)),
    );
  }

  /** Reads an integer within bounds. Forms send it as a string of digits. */
  integer(name: string, bounds: { min: number; max: number; defaultValue?: number }): number {
    const given = this.take(name) ?? bounds.defaultValue;
    const value = typeof given === 'string' && /^\d{1,15}$/.test(given) ? Number(given) : given;
    if (typeof value === 'number' && Number.isInteger(value) && value >= bounds.min && value <= bounds.max) {
      return value;
    }
    this.addProblem(name, `must be a whole number from ${bounds.min} to ${bounds.max}`);
    return bounds.min;
  }

  object(name: string): { reader: ObjectReader; fields: WireObject } {
    const value = this.take(name);
    if (value === undefined) this.addProblem(name, 'is required');
    else if (!isObject(value)) this.addProblem(name, 'must be an object');
    const fields = isObject(value) ? value : {};
    return { reader: new ObjectReader(fields, this.problems, `${this.path}${name}.`), fields };
  }

  addProblem(name: string, rule: string): void {
    this.problems.add(this.path + name, rule);
  }

  finish(): void {
    for (const name of Object.keys(this.source)) {
      if (!this.readNames.has(name)) this.addProblem(publicName(name), 'is unknown');
    }
  }

  private take(name: string): unknown {
    this.readNames.add(name);
    return this.has(name) ? this.source[name] : undefined;
  }
}
