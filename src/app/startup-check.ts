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
import { textOfFile } from '../shared/json-text';

const readText = (file: string): string => textOfFile(readFileSync(file));

type Reader = ReturnType<typeof settingsReader>;

/** Reads files the way the gateway does, by setting. Each function throws when its file cannot be used. */
const READ_FILE = {
  CLIENT_KEYS_FILE: (file: string) => new ApiKeyStore(readText(file)),
  SERVICE_CREDENTIALS_FILE: (file: string, env: Reader) => {
    // Ignored with the embedded sandbox.
    if (!env.has('SERVICE_BASE_URL')) return;
    readCredentialsFile(readText(file), (named) => readText(path.resolve(path.dirname(file), named)));
  },
  PERSISTED_OPERATIONS: (manifest: string, env: Reader) => {
    const settings = { manifest, frontends: 'allow', services: 'allow' } as const;
    const schema = env.get('SUBGRAPH') ? subgraphSchema() : gatewaySchema();
    return new PersistedOperations({ settings, schema, onUnlisted: () => undefined });
  },
};

/** Checks the files named by settings: files that are read, and the folders of files that are written. */
function fileErrors(source: Environment): string[] {
  const env = settingsReader(source);
  const errors: string[] = [];
  for (const name of Object.keys(READ_FILE) as (keyof typeof READ_FILE)[]) {
    const file = env.text(name);
    try {
      if (file !== undefined) READ_FILE[name](file, env);
    } catch (error) {
      errors.push(`${name}: ${describeFileError(error)}.`);
    }
  }
  const journal = env.get('DATABASE_URL')?.reveal() ?? '';
  const written = {
    DATABASE_URL: journal.startsWith('file:') ? journal.slice('file:'.length) : undefined,
    AUDIT_LOG_FILE: env.get('AUDIT_LOG_FILE'),
  };
  for (const [name, file] of Object.entries(written)) {
    const error = file && describePathError(path.resolve(file));
    if (error) errors.push(`${name}: ${error}.`);
  }
  return errors;
}

/** Reads and checks all settings and the files that they name. Throws one ConfigError with all errors. */
export function readStartConfig(env: Environment = environment()): Config {
  const errors: string[] = [];
  const config = attempt(() => readConfig(env), errors);
  errors.push(...fileErrors(env));
  if (!config || errors.length > 0) throw new ConfigError(errors);
  return config;
}

/** The result of a reader. Undefined when it throws a ConfigError, whose errors are added to `errors`. */
function attempt(read: () => Config, errors: string[]): Config | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    errors.push(...error.errors);
    return undefined;
  }
}
