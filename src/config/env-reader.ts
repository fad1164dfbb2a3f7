import { readFileSync } from 'node:fs';
import { closest, distance } from 'fastest-levenshtein';
import { errorCode } from '../shared/error-code';
import type { Parser } from './parsers';

/** One environment variable; docs/configuration.md is generated from it. */
export interface Setting<T> {
  /** The description in docs/configuration.md. */
  description: string;
  /** Parsed if the variable is not set. */
  default?: string;
  /** Text for the documentation if it is not set and has no default; 'none' if absent. */
  whenUnset?: string;
  parser: Parser<T>;
  /** Whether <NAME>_FILE may name a file with the value. Secret values are never printed. */
  secret?: true;
}

export type AnySetting = Setting<unknown>;

/** The value of a setting; not undefined if there is a default. */
export type ValueOf<S extends AnySetting> =
  S extends Setting<infer T> ? (S extends { default: string } ? T : T | undefined) : never;

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads environment variables and collects errors, which contain no values. An empty variable counts as not set. */
export class EnvReader<Table extends Readonly<Record<string, AnySetting>>> {
  readonly errors: string[] = [];
  readonly #env: Environment;
  readonly #table: Table;

  constructor(env: Environment, table: Table) {
    this.#env = env;
    this.#table = table;
  }

  /** Whether a variable, or the <NAME>_FILE of a secret, is set. */
  has(name: keyof Table & string): boolean {
    return (
      this.#read(name) !== undefined || (this.#isSecret(name) && this.#read(`${name}_FILE`) !== undefined)
    );
  }

  /** The value of a setting, otherwise its default. Adds to `errors` if the value is invalid. */
  get<N extends keyof Table & string>(name: N): ValueOf<Table[N]> {
    const { parser, default: fallback } = this.#setting(name);
    const text = this.text(name);
    const value = text === undefined ? undefined : parser.parse(text);
    if (text !== undefined && value === undefined)
      this.addError(name, parser.describeError?.(text) ?? `expected ${parser.expected}`);
    return (value ?? (fallback === undefined ? undefined : parser.parse(fallback))) as ValueOf<Table[N]>;
  }

  /** The text of a variable or of its file, without the default. */
  text(name: keyof Table & string): string | undefined {
    const text = this.#read(name);
    if (!this.#isSecret(name) || this.#read(`${name}_FILE`) === undefined) return text;
    if (text !== undefined) this.addError(name, `set both as ${name} and as ${name}_FILE: set one of them`);
    return text ?? this.#readFile(`${name}_FILE`);
  }

  addError(name: string, message: string): void {
    const error = `${name}: ${message}.`;
    if (!this.errors.includes(error)) this.errors.push(error);
  }

  /**
   * A warning for each variable that looks like a misspelt setting.
   * @param others names of variables that other programs use
   */
  unknownNames(prefixes: readonly string[], others: readonly string[]): string[] {
    const known = Object.keys(this.#table).flatMap((name) => [name, `${name}_FILE`]);
    const isKnown = new Set([...known, ...others]);
    return Object.keys(this.#env)
      .filter((name) => !isKnown.has(name) && !isServiceVariable(name, this.#env[name]))
      .map((name): [string, string | undefined] => [name, similarName(name, known)])
      .filter(
        ([name, similar]) => similar !== undefined || prefixes.some((prefix) => name.startsWith(prefix)),
      )
      .map(
        ([name, similar]) =>
          `${name} is not a setting of paygraph: ${similar ? `did you mean ${similar}?` : 'see docs/configuration.md.'}`,
      );
  }

  #setting(name: string): AnySetting {
    const setting = this.#table[name];
    if (!setting) throw new TypeError(`There is no setting ${name}.`);
    return setting;
  }

  #isSecret(name: string): boolean {
    return this.#setting(name).secret === true;
  }

  #read(name: string): string | undefined {
    return this.#env[name] || undefined;
  }

  #readFile(name: string): string | undefined {
    try {
      return readFileSync(this.#read(name) ?? '', 'utf8').replace(/\r?\n$/, '');
    } catch (error) {
      this.addError(name, `expected a readable file (${errorCode(error)})`);
      return undefined;
    }
  }
}

/** Variables that Kubernetes and Docker set: MY_API_SERVICE_HOST, MY_API_PORT=tcp://…, MY_API_PORT_80_TCP. */
const isServiceVariable = (name: string, value = ''): boolean =>
  /_SERVICE_(HOST|PORT(_\w+)?)$|_PORT_\d+_(TCP|UDP)(_\w+)?$/.test(name) ||
  (name.endsWith('_PORT') && /^(tcp|udp):/.test(value));

/** Shorter names are similar to too many others. */
const MIN_LENGTH = 6;
/** Names of this length may have two typos. */
const LONG = 9;

function similarName(name: string, known: readonly string[]): string | undefined {
  if (name.length < MIN_LENGTH) return undefined;
  const candidate = closest(name, known);
  const mayHaveTwo = (name.length >= LONG && name[0] === candidate[0]) || isAnagram(name, candidate);
  return distance(name, candidate) <= (mayHaveTwo ? 2 : 1) ? candidate : undefined;
}

/** Two exchanged letters have a distance of 2. */
const isAnagram = (one: string, other: string): boolean =>
  [...one].sort().join('') === [...other].sort().join('');
