import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ApiKeyStore } from '../auth/client-keys';
import {
  ConfigError,
  environment,
  readConfig,
  settingsReader,
  type Config,
  type Environment,
} from '../config';
import { describePathError } from '../datasources/journal/journal-open-error';
import { readCredentialsFile } from '../datasources/payment-service/credentials-file';
import { PersistedOperations } from '../http/persisted/persisted-operations';
import { gatewaySchema, subgraphSchema } from '../resolvers';
import { describeFileError } from '../shared/hot-reloaded-file';
import { decodeUtf8OrThrow } from '../shared/json-text';

const readText = (file: string): string => decodeUtf8OrThrow(readFileSync(file));

type Reader = ReturnType<typeof settingsReader>;

/** Reads the files of settings as the gateway does. Each function throws if its file cannot be used. */
const FILE_CHECKS = {
  CLIENT_KEYS_FILE: (file: string) => new ApiKeyStore(readText(file)),
  SERVICE_CREDENTIALS_FILE: (file: string, env: Reader) => {
    // The gateway ignores this file with the embedded sandbox.
    if (!env.has('SERVICE_BASE_URL')) return;
    readCredentialsFile(readText(file), (named) => readText(path.resolve(path.dirname(file), named)));
  },
  PERSISTED_OPERATIONS: (manifest: string, env: Reader) => {
    const settings = { manifest, modeForFrontends: 'allow', modeForServices: 'allow' } as const;
    const schema = env.get('SUBGRAPH') ? subgraphSchema() : gatewaySchema();
    return new PersistedOperations({ settings, schema, onUnlisted: () => undefined });
  },
};

/** Returns the errors of the files that settings name: of files to read, and of the paths of files to write. */
function fileErrors(source: Environment): string[] {
  const env = settingsReader(source);
  const errors: string[] = [];
  for (const name of Object.keys(FILE_CHECKS) as (keyof typeof FILE_CHECKS)[]) {
    const file = env.text(name);
    try {
      if (file !== undefined) FILE_CHECKS[name](file, env);
    } catch (error) {
      errors.push(`${name}: ${describeFileError(error)}.`);
    }
  }
  const journal = env.get('DATABASE_URL')?.reveal() ?? '';
  const writtenFiles = {
    DATABASE_URL: journal.startsWith('file:') ? journal.slice('file:'.length) : undefined,
    AUDIT_LOG_FILE: env.get('AUDIT_LOG_FILE'),
  };
  for (const [name, file] of Object.entries(writtenFiles)) {
    const error = file && describePathError(path.resolve(file));
    if (error) errors.push(`${name}: ${error}.`);
  }
  return errors;
}

/** Reads and checks all settings and the files that they name. Throws one ConfigError with all errors. */
export function readStartConfig(env: Environment = environment()): Config {
  const errors: string[] = [];
  const config = tryRead(() => readConfig(env), errors);
  errors.push(...fileErrors(env));
  if (!config || errors.length > 0) throw new ConfigError(errors);
  return config;
}

/** Returns the result of `read`; undefined if it throws a ConfigError, whose errors are then added to `errors`. */
function tryRead(read: () => Config, errors: string[]): Config | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    errors.push(...error.errors);
    return undefined;
  }
}
