import { describeFileError } from '../shared/hot-reloaded-file';

/** Thrown if settings or the files that they name are missing or invalid. The message contains none of their values. */
export class ConfigError extends Error {
  /** @param errors sentences that begin with the name of an environment variable */
  constructor(readonly errors: readonly string[]) {
    super(`Invalid settings (environment variables):\n${errors.map((error) => `  ${error}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

/** Reads a setting's file by `read` and returns the result. Throws a ConfigError with the setting's name on failure. */
export function readSettingFile<T>(setting: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new ConfigError([`${setting}: ${describeFileError(error)}.`]);
  }
}
