import { decodeUtf8, parseStrictJson } from '../shared/json-text';
import { isObject, type WireObject } from '../shared/wire-object';
import { plainTextRule, type FieldRule } from './field-rules';
import { invalidRequestError, type SandboxHttpError } from './http-error';

/** Parses a JSON object in UTF-8. Throws a 400 error if the bytes are anything else or if a name occurs twice. */
export function parseJsonObject(bytes: Buffer): WireObject {
  let parsedJson: unknown;
  try {
    parsedJson = parseStrictJson(decodeUtf8(bytes));
  } catch {
    // Ignore the error, because its message quotes the text, which must not be logged or returned.
  }
  if (!isObject(parsedJson))
    throw invalidRequestError({ body: 'must be a JSON object in UTF-8 without duplicate names' });
  return parsedJson;
}

/**
 * Reads an object with `readFields` and returns the result. Throws a 400 error if a field is invalid, or if the object
 * has a field that `readFields` did not read.
 */
export function readObject<T>(source: WireObject, readFields: (reader: ObjectReader) => T): T {
  const reader = new ObjectReader(source);
  const result = readFields(reader);
  reader.rejectUnread();
  reader.throwIfInvalid();
  return result;
}

/** Returns the name of an unknown field for an error. Returns `(unnamed)` if the name may be a secret. */
const redactUnknownFieldName = (name: string): string =>
  /^[A-Za-z_][\w-]{0,39}$/.test(name) && !/\d{4}/.test(name) ? name : '(unnamed)';

/** Reads an object field by field. Records the first problem of each field. One error then reports all problems. */
export class ObjectReader {
  private readonly namesRead = new Set<string>();

  constructor(
    private readonly source: WireObject,
    private readonly pathPrefix = '',
    private readonly problemByPath = new Map<string, string>(),
  ) {}

  hasField(name: string): boolean {
    return Object.hasOwn(this.source, name);
  }

  /**
   * Reads a required string. Records a problem if it is absent, is no string or violates `rule`. Returns '' if it is
   * absent or no string.
   */
  requiredString(name: string, rule: FieldRule = plainTextRule): string {
    const value = this.optionalString(name, rule);
    if (!this.hasField(name)) this.addProblem(name, 'is required');
    return value ?? '';
  }

  /**
   * Reads an optional string. Records a problem if it is no string or violates `rule`. Returns undefined if it is
   * absent or no string.
   */
  optionalString(name: string, rule: FieldRule = plainTextRule): string | undefined {
    const value = this.readValue(name);
    if (value === undefined) return undefined;
    if (typeof value !== 'string') {
      this.addProblem(name, 'must be a string');
      return undefined;
    }
    const violatedRule = rule(value);
    if (violatedRule) this.addProblem(name, violatedRule);
    return value;
  }

  /** Reads a required string. If it is absent or none of `allowedValues`, records a problem and returns undefined. */
  requiredOneOf<const T extends string>(name: string, allowedValues: readonly T[]): T | undefined {
    const givenValue = this.requiredString(name);
    const matchingValue = allowedValues.find((allowedValue) => allowedValue === givenValue);
    if (!matchingValue) this.addProblem(name, `must be one of ${allowedValues.join(', ')}`);
    return matchingValue;
  }

  /**
   * Reads an integer, also from a string of digits, because forms and query strings contain only strings. An absent or
   * null field gets `bounds.defaultValue`. Records a problem and returns `bounds.min` if the value is invalid, or if
   * neither a value nor a default exists.
   */
  integer(name: string, bounds: { min: number; max: number; defaultValue?: number }): number {
    const rawValue = this.readValue(name) ?? bounds.defaultValue;
    const value = typeof rawValue === 'string' && /^\d{1,15}$/.test(rawValue) ? Number(rawValue) : rawValue;
    if (typeof value === 'number' && Number.isInteger(value) && value >= bounds.min && value <= bounds.max) {
      return value;
    }
    this.addProblem(name, `must be a whole number from ${bounds.min} to ${bounds.max}`);
    return bounds.min;
  }

  /** Reads a required object. Returns a reader for its fields. Both readers record into the same list of problems. */
  requiredObject(name: string): ObjectReader {
    const value = this.readValue(name);
    if (!isObject(value)) this.addProblem(name, value === undefined ? 'is required' : 'must be an object');
    return new ObjectReader(isObject(value) ? value : {}, `${this.pathPrefix}${name}.`, this.problemByPath);
  }

  /** Returns the fields that have not been read. */
  unreadFields(): WireObject {
    return Object.fromEntries(Object.entries(this.source).filter(([name]) => !this.namesRead.has(name)));
  }

  /** Records a problem for each field that has not been read. */
  rejectUnread(): void {
    for (const name of Object.keys(this.unreadFields()))
      this.addProblem(redactUnknownFieldName(name), 'is unknown');
  }

  /** Records a problem of a field. Does nothing if a problem of this field was already recorded. */
  addProblem(name: string, violatedRule: string): void {
    if (!this.problemByPath.has(this.pathPrefix + name))
      this.problemByPath.set(this.pathPrefix + name, violatedRule);
  }

  /** Throws a 400 error if a problem was recorded. */
  throwIfInvalid(): void {
    if (this.problemByPath.size > 0) throw this.toError();
  }

  /** Returns a 400 error with the recorded problems. */
  toError(): SandboxHttpError {
    return invalidRequestError(Object.fromEntries(this.problemByPath));
  }

  private readValue(name: string): unknown {
    this.namesRead.add(name);
    return this.hasField(name) ? this.source[name] : undefined;
  }
}
