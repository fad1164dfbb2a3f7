import { readFileSync } from 'node:fs';
import { Secret } from './secret';

/** One setting: what docs/configuration.md says of it, and how its text is read. */
export interface Setting<T> {
  /** For the reader of the table: what it does. */
  about: string;
  /** What a value has to look like; completes the sentence "expected …". */
  expected: string;
  /** In words, what holds when it is not set. */
  unset: string;
  /** The value, or undefined when the text is not as expected. */
  read(text: string): T | undefined;
  /** Says which part of a text that cannot be read is wrong, in the place of `expected`; never a value. */
  fault?(text: string): string;
  /** True for values that must never be printed; such a setting may also be given as NAME_FILE. */
  secret?: true;
}

/** The environment, or anything like it. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads settings one by one and collects what is wrong with them, without ever printing a value. */
export class SettingsReader {
  readonly faults: string[] = [];
  readonly #env: Environment;

  constructor(env: Environment) {
    this.#env = env;
  }

  has(name: string): boolean {
    return this.#text(name) !== undefined;
  }

  /** Whether a secret is set, itself or by its file. */
  hasSecret(name: string): boolean {
    return this.has(name) || this.has(`${name}_FILE`);
  }

  /** A message for each name in the environment that looks like a setting of ours and is none. */
  unknown(prefixes: readonly string[], known: ReadonlySet<string>): string[] {
    return Object.keys(this.#env)
      .filter((name) => !known.has(name) && !isServiceVariable(name, this.#env[name]))
      .map((name): [string, string | undefined] => [name, nearest(name, known)])
      .filter(([name, meant]) => meant !== undefined || prefixes.some((prefix) => name.startsWith(prefix)))
      .map(
        ([name, meant]) =>
          `${name} is no setting of paygraph: ${meant ? `did you mean ${meant}?` : 'see docs/configuration.md.'}`,
      );
  }

  /** The text that a setting is set to, itself or by its file; undefined when it is not set, or its file cannot be read. */
  text(name: string, { secret }: Setting<unknown>): string | undefined {
    return this.#text(name) ?? (secret ? this.#fromFile(`${name}_FILE`) : undefined);
  }

  /** The setting's value, or undefined when it is not set or wrong; what is wrong is recorded. */
  get<T>(name: string, setting: Setting<T>): T | undefined {
    if (setting.secret && this.has(name) && this.has(`${name}_FILE`)) {
      this.fault(name, `set both itself and by ${name}_FILE: set one of them`);
    }
    const text = this.text(name, setting);
    if (text === undefined) return undefined;
    const value = setting.read(text);
    if (value === undefined) this.fault(name, setting.fault?.(text) ?? `expected ${setting.expected}`);
    return value;
  }

  fault(name: string, says: string): void {
    this.faults.push(`${name}: ${says}.`);
  }

  #text(name: string): string | undefined {
    const text = this.#env[name];
    return text === undefined || text === '' ? undefined : text;
  }

  #fromFile(name: string): string | undefined {
    const path = this.#text(name);
    if (path === undefined) return undefined;
    try {
      return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
      this.fault(name, `expected a file that can be read (${code})`);
      return undefined;
    }
  }
}

/** Whether it is a variable that Kubernetes or Docker sets for another service: MY_API_SERVICE_HOST, MY_API_PORT=tcp://…, MY_API_PORT_80_TCP. */
const isServiceVariable = (name: string, value = ''): boolean =>
  /_SERVICE_(HOST|PORT(_\w+)?)$|_PORT_\d+_(TCP|UDP)(_\w+)?$/.test(name) ||
  (name.endsWith('_PORT') && /^(tcp|udp):/.test(value));

/** Shorter names are like too many others. */
const LEAST_LETTERS = 6;
/** Names of this length may have two typos; the first letter is then right. */
const LONG = 9;

/** The known name that another one is nearly the same as; undefined where there is none. */
function nearest(name: string, names: ReadonlySet<string>): string | undefined {
  if (name.length < LEAST_LETTERS) return undefined;
  const typosIn = (other: string): number => {
    const most = name.length >= LONG && name[0] === other[0] ? 2 : 1;
    return Math.abs(name.length - other.length) > most ? Infinity : typosBetween(name, other, most);
  };
  const [best] = [...names]
    .map((other) => ({ other, typos: typosIn(other) }))
    .sort((one, another) => one.typos - another.typos);
  return best && best.typos < Infinity ? best.other : undefined;
}

/**
 * Restricted Damerau-Levenshtein distance: letters changed, added, left out or exchanged with their neighbour. Infinity
 * where it is more than `most`.
 */
function typosBetween(one: string, other: string, most: number): number {
  let before: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, place) => place);
  for (let line = 1; line <= one.length; line += 1) {
    const next = [line];
    for (let place = 1; place <= other.length; place += 1) {
      const isSame = one[line - 1] === other[place - 1];
      const isExchanged = one[line - 1] === other[place - 2] && one[line - 2] === other[place - 1];
      const changed = (row[place - 1] ?? 0) + Number(!isSame);
      const exchanged = isExchanged ? (before[place - 2] ?? Infinity) + 1 : Infinity;
      next.push(Math.min(changed, exchanged, (row[place] ?? 0) + 1, (next[place - 1] ?? 0) + 1));
    }
    if (Math.min(...next, ...row) > most) return Infinity;
    [before, row] = [row, next];
  }
  const typos = row.at(-1) ?? 0;
  return typos > most ? Infinity : typos;
}

/** A whole number between two bounds. */
export const wholeNumber = (min: number, max: number) => ({
  expected: `a whole number from ${min} to ${max}`,
  read: (text: string): number | undefined => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
    return number >= min && number <= max ? number : undefined;
  },
});

/** One of a few words. */
export const oneOf = <W extends string>(...words: readonly W[]) => ({
  expected: `one of: ${words.join(', ')}`,
  read: (text: string): W | undefined => words.find((word) => word === text),
});

/** on or off. */
export const onOff = {
  expected: 'on or off',
  read: (text: string): boolean | undefined => ({ on: true, off: false })[text],
};

/** A credential: it goes into a header or a key, so it is printable ASCII without blanks. */
export const credential = {
  expected: 'printable ASCII characters without blanks',
  secret: true as const,
  read: (text: string): Secret | undefined =>
    /^[\x21-\x7e]{1,1024}$/.test(text) ? new Secret(text) : undefined,
};

/** Several values separated by commas. */
export const listOf = <T>(what: string, read: (text: string) => T | undefined) => ({
  expected: `${what}, separated by commas`,
  read: (text: string): T[] | undefined => {
    const values = text.split(',').map((part) => read(part.trim()));
    return values.every((value) => value !== undefined) ? values : undefined;
  },
});
