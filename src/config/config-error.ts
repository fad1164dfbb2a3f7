import { describeFileError } from '../shared/hot-reloaded-file';

/** Thrown if settings are missing or invalid. The message lists every error and contains no values. */
export class ConfigError extends Error {
  /** @param errors sentences that begin with the name of an environment variable */
  constructor(readonly errors: readonly string[]) {
    super(`Invalid settings (environment variables):\n${errors.map((error) => `  ${error}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

/** Reads the file that a setting names. Throws a ConfigError that names the setting if the file cannot be used. */
export function readSettingFile<T>(setting: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new ConfigError([`${setting}: ${describeFileError(error)}.`]);
  }
}
