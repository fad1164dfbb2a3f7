import { describeFileError } from '../shared/hot-reloaded-file';

/** Thrown if settings or the files that they name are missing or invalid. The message contains none of their values. */
export class ConfigError extends Error {
  /** @param errors sentences that begin with the name of an environment variable */
  constructor(readonly errors: readonly string[]) {
    super(`Invalid settings (environment variables):\n${errors.map((error) => `  ${error}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

/** Returns the result of `read`, which reads the file of a setting. Throws a ConfigError for the setting on failure. */
export function readSettingFile<T>(setting: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new ConfigError([`${setting}: ${describeFileError(error)}.`]);
  }
}
