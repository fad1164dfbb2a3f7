import { readFileSync } from 'node:fs';
import { closest, distance } from 'fastest-levenshtein';
import { errorCode } from '../shared/error-code';
import { SETTINGS } from './env-vars';
import type { Setting } from './parsers';

type SettingDefinitions = typeof SETTINGS;
type SettingName = keyof SettingDefinitions;

/** Type of the value of a setting; includes null if the setting has no default. */
type SettingValue<S> = S extends Setting<infer T> ? (S extends { default: string } ? T : T | null) : never;

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads settings from environment variables, and collects errors for the operator. No error contains a secret. A
 * variable whose value is empty is treated as not set.
 */
export class EnvReader {
  readonly errors: string[] = [];

  constructor(private readonly envVars: Environment) {}

  /** Whether a setting is set: by its variable or, if the setting is a secret, by <NAME>_FILE. */
  has(settingName: SettingName): boolean {
    return !!this.envVars[settingName] || this.#secretFilePath(settingName) !== undefined;
  }

  /**
   * Returns the value of a setting. If the setting is unset or invalid, returns its default, or null if it has none.
   * Adds an error if the setting is invalid.
   */
  get<N extends SettingName>(settingName: N): SettingValue<SettingDefinitions[N]> {
    const { parser, default: defaultText }: Setting<unknown> = SETTINGS[settingName];
    const rawText = this.rawText(settingName);
    const value = rawText === undefined ? undefined : parser.parse(rawText);
    if (rawText !== undefined && value === undefined)
      this.addError(settingName, parser.describeError?.(rawText) ?? `expected ${parser.expectation}`);
    return (value ?? (defaultText ? parser.parse(defaultText) : null)) as SettingValue<SettingDefinitions[N]>;
  }

  /**
   * Returns the unparsed text of a setting: the value of its variable or, for a secret, the content of the file that
   * <NAME>_FILE names. Returns undefined if the setting is not set or the file cannot be read. Adds an error if the
   * file cannot be read, or if both the variable and <NAME>_FILE are set.
   */
  rawText(settingName: SettingName): string | undefined {
    const text = this.envVars[settingName] || undefined;
    const secretPath = this.#secretFilePath(settingName);
    if (secretPath === undefined) return text;
    if (text !== undefined)
      this.addError(settingName, `${settingName}_FILE is also set: unset one of the two`);
    try {
      return text ?? readFileSync(secretPath, 'utf8').replace(/\r?\n$/, '');
    } catch (error) {
      this.addError(`${settingName}_FILE`, `expected a readable file (${errorCode(error)})`);
      return undefined;
    }
  }

  /** Adds an error about a variable. Ignores an error that was already added. `message` has no period at its end. */
  addError(variableName: string, message: string): void {
    const error = `${variableName}: ${message}.`;
    if (!this.errors.includes(error)) this.errors.push(error);
  }

  /** Returns a warning for each unknown variable that is probably a misspelt setting. */
  unknownNameWarnings(): string[] {
    const knownNames = Object.keys(SETTINGS).flatMap((name) => [name, `${name}_FILE`]);
    return Object.entries(this.envVars).flatMap(([name, value]) => {
      if (knownNames.includes(name) || name === SYSTEMD_VARIABLE_NAME || isContainerVariable(name, value))
        return [];
      const similarName = findSimilarName(name, knownNames);
      if (!similarName && !SETTING_PREFIXES.some((prefix) => name.startsWith(prefix))) return [];
      const hint = similarName ? `did you mean ${similarName}?` : 'see docs/configuration.md.';
      return [`${name} is not a setting of paygraph: ${hint}`];
    });
  }

  /** Returns the path in <NAME>_FILE; undefined if <NAME>_FILE is unset or the setting is not a secret. */
  #secretFilePath(settingName: SettingName): string | undefined {
    return ('isSecret' in SETTINGS[settingName] && this.envVars[`${settingName}_FILE`]) || undefined;
  }
}

/** Prefixes of the names of settings. An unknown variable with such a prefix is probably a misspelt setting. */
const SETTING_PREFIXES = [
  ...['SERVICE_', 'SANDBOX_', 'JOURNAL_', 'DATABASE_', 'PAYOUT_', 'UNKNOWN_', 'FINGERPRINT_', 'AUTH_'],
  ...['CLIENT_KEYS', 'CORS_', 'PERSISTED_', 'RATE_LIMIT', 'AUDIT_', 'TRUSTED_PROX', 'ALLOWED_URL'],
  ...['PUBLIC_URL', 'POLL_INTERVALS', 'SUBSCRIPTION_', 'MAX_SUBSCRIPTIONS', 'MAX_CONNECTIONS', 'MAX_UNREAD'],
  ...['SUBGRAPH', 'OTEL_', 'METRICS_', 'FENCE_', 'FOLLOW_', 'CHANGES_', 'SETTLE_'],
];

/** A variable that systemd sets. It is not a setting, although it begins with JOURNAL_. */
const SYSTEMD_VARIABLE_NAME = 'JOURNAL_STREAM';

/** Whether Kubernetes or Docker sets this variable: MY_API_SERVICE_HOST, MY_API_PORT=tcp://… or MY_API_PORT_80_TCP. */
const isContainerVariable = (variableName: string, value = ''): boolean =>
  /_SERVICE_(HOST|PORT(_\w+)?)$|_PORT_\d+_(TCP|UDP)(_\w+)?$/.test(variableName) ||
  (variableName.endsWith('_PORT') && /^(tcp|udp):/.test(value));

/** Minimum length of a name for which a similar setting is suggested; shorter names resemble too many settings. */
const MIN_NAME_LENGTH_FOR_SUGGESTION = 6;
/**
 * Minimum length of an unknown name for which the suggested setting may differ by two edits. An edit adds, removes or
 * replaces one letter. The first letter must be the same. Shorter names allow one edit, or a swap of two letters.
 */
const MIN_NAME_LENGTH_FOR_TWO_EDITS = 9;

/** Returns the setting that a misspelt or shortened name probably means; undefined if none is similar enough. */
function findSimilarName(name: string, knownNames: readonly string[]): string | undefined {
  if (name.length < MIN_NAME_LENGTH_FOR_SUGGESTION) return undefined;
  // The name may lack its last part, such as the unit: SERVICE_TIMEOUT instead of SERVICE_TIMEOUT_MS.
  const fullName = knownNames.find((knownName) => name.includes('_') && knownName.startsWith(`${name}_`));
  if (fullName !== undefined) return fullName;
  const candidate = closest(name, knownNames);
  const isLongName = name.length >= MIN_NAME_LENGTH_FOR_TWO_EDITS;
  // Also allow two edits if the names have the same letters, because a swap of two letters is two edits.
  const hasSameLetters = [...name].sort().join() === [...candidate].sort().join();
  const allowsTwoEdits = (isLongName && name[0] === candidate[0]) || hasSameLetters;
  return distance(name, candidate) <= (allowsTwoEdits ? 2 : 1) ? candidate : undefined;
}
