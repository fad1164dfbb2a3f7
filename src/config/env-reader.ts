import { readFileSync } from 'node:fs';
import { closest, distance } from 'fastest-levenshtein';
import { errorCode } from '../shared/error-code';
import type { Parser } from './parsers';

/** Definition of one environment variable; docs/configuration.md is generated from it. */
export interface Setting<T> {
  description: string;
  /** The text that is parsed if the variable is not set. */
  default?: string;
  /** Text in docs/configuration.md for a setting that has no default and is not set; 'none' if omitted. */
  whenUnset?: string;
  parser: Parser<T>;
  /** The value is never printed, and <NAME>_FILE may name a file that contains it. */
  secret?: true;
}

export type AnySetting = Setting<unknown>;

/** Type of the value of a setting; includes undefined if the setting has no default. */
export type SettingValue<S extends AnySetting> =
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

  /** Whether the variable of a setting is set, or <NAME>_FILE if the setting is a secret. */
  has(name: keyof Table & string): boolean {
    return (
      this.#read(name) !== undefined || (this.#isSecret(name) && this.#read(`${name}_FILE`) !== undefined)
    );
  }

  /** Returns the value of a setting, or its default if it is not set or invalid. Adds to `errors` if it is invalid. */
  get<N extends keyof Table & string>(name: N): SettingValue<Table[N]> {
    const { parser, default: fallback } = this.#setting(name);
    const text = this.text(name);
    const value = text === undefined ? undefined : parser.parse(text);
    if (text !== undefined && value === undefined)
      this.addError(name, parser.describeError?.(text) ?? `expected ${parser.expected}`);
    return (value ?? (fallback === undefined ? undefined : parser.parse(fallback))) as SettingValue<Table[N]>;
  }

  /** Returns the unparsed text of a setting, from its variable or <NAME>_FILE; undefined if neither is set. */
  text(name: keyof Table & string): string | undefined {
    const text = this.#read(name);
    if (!this.#isSecret(name) || this.#read(`${name}_FILE`) === undefined) return text;
    if (text !== undefined) this.addError(name, `${name}_FILE is also set: unset one of the two`);
    return text ?? this.#readFile(`${name}_FILE`);
  }

  addError(name: string, message: string): void {
    const error = `${name}: ${message}.`;
    if (!this.errors.includes(error)) this.errors.push(error);
  }

  /**
   * Returns a warning for each unknown variable whose name resembles a setting or begins with one of the prefixes.
   * @param foreignNames names of variables that other programs use
   */
  unknownNameWarnings(prefixes: readonly string[], foreignNames: readonly string[]): string[] {
    const known = Object.keys(this.#table).flatMap((name) => [name, `${name}_FILE`]);
    const isKnown = new Set([...known, ...foreignNames]);
    return Object.keys(this.#env)
      .filter((name) => !isKnown.has(name) && !isContainerVariable(name, this.#env[name]))
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

/** Whether Kubernetes or Docker sets this variable: MY_API_SERVICE_HOST, MY_API_PORT=tcp://… or MY_API_PORT_80_TCP. */
const isContainerVariable = (name: string, value = ''): boolean =>
  /_SERVICE_(HOST|PORT(_\w+)?)$|_PORT_\d+_(TCP|UDP)(_\w+)?$/.test(name) ||
  (name.endsWith('_PORT') && /^(tcp|udp):/.test(value));

/** Minimum length of a name for which a similar setting is suggested; shorter names resemble too many settings. */
const MIN_LENGTH_FOR_SUGGESTION = 6;
/** Names of at least this length may differ by two edits if the first letter matches. */
const MIN_LENGTH_FOR_TWO_EDITS = 9;

/** Returns the setting that a misspelt name probably means; undefined if none is similar enough. */
function similarName(name: string, known: readonly string[]): string | undefined {
  if (name.length < MIN_LENGTH_FOR_SUGGESTION) return undefined;
  const candidate = closest(name, known);
  const isLong = name.length >= MIN_LENGTH_FOR_TWO_EDITS;
  const mayDifferByTwo = (isLong && name[0] === candidate[0]) || isAnagram(name, candidate);
  return distance(name, candidate) <= (mayDifferByTwo ? 2 : 1) ? candidate : undefined;
}

/** Whether two names have the same letters. Exchanging two letters counts as two edits. */
const isAnagram = (one: string, other: string): boolean =>
  [...one].sort().join('') === [...other].sort().join('');
