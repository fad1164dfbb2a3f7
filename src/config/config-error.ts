import { describeFileError } from '../shared/hot-reloaded-file';

/**
 * Thrown if a setting is missing or invalid, or if the file or database that it names cannot be used. The message
 * contains no secret, but it may contain a path.
 */
export class ConfigError extends Error {
  /** @param errors sentences that begin with the name of an environment variable */
  constructor(readonly errors: readonly string[]) {
    super(`Invalid settings (environment variables):\n${errors.map((error) => `  ${error}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

/**
 * Returns the result of `readFile`, which reads the file that a setting names. If it throws, throws a ConfigError with
 * the name of the setting and the reason.
 */
export function withSettingFileError<T>(settingName: string, readFile: () => T): T {
  try {
    return readFile();
  } catch (error) {
    throw new ConfigError([`${settingName}: ${describeFileError(error)}.`]);
  }
}
