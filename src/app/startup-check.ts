import path from 'node:path';
import { ClientKeyStore } from '../auth/client-keys';
import { ConfigError, readConfig, createEnvReader, type Config, type Environment } from '../config';
import { describePathError } from '../datasources/journal/journal-open-error';
import { parseCredentialsFile } from '../datasources/payment-service/credentials-file';
import { PersistedOperations } from '../http/persisted/persisted-operations';
import { buildGatewaySchema, buildSubgraphSchema } from '../resolvers';
import { describeFileError } from '../shared/hot-reloaded-file';
import { readTextFile } from '../shared/json-text';

/**
 * Checks the files that the settings name: parses those that the gateway reads, and tests access to those that it
 * writes. Returns error messages.
 */
function findFileErrors(reader: ReturnType<typeof createEnvReader>): string[] {
  const errors: string[] = [];
  const checkFile = (name: Parameters<typeof reader.rawText>[0], read: (file: string) => unknown): void => {
    const file = reader.rawText(name);
    try {
      if (file !== undefined) read(file);
    } catch (error) {
      errors.push(`${name}: ${describeFileError(error)}.`);
    }
  };
  checkFile('CLIENT_KEYS_FILE', (file) => new ClientKeyStore(readTextFile(file)));
  // Without SERVICE_BASE_URL, the gateway runs with the embedded sandbox and ignores this file.
  if (reader.has('SERVICE_BASE_URL'))
    checkFile('SERVICE_CREDENTIALS_FILE', (file) =>
      parseCredentialsFile(readTextFile(file), (referencedFile) =>
        readTextFile(path.resolve(path.dirname(file), referencedFile)),
      ),
    );
  checkFile('PERSISTED_OPERATIONS', (manifestPath) => {
    const settings = { manifestPath, modeForFrontends: 'allow', modeForServices: 'allow' } as const;
    const schema = reader.get('SUBGRAPH') ? buildSubgraphSchema() : buildGatewaySchema();
    return new PersistedOperations({ settings, schema, onUnlisted: () => undefined });
  });
  const databaseUrl = reader.get('DATABASE_URL').reveal();
  const writtenFiles = {
    DATABASE_URL: databaseUrl.startsWith('file:') ? databaseUrl.slice('file:'.length) : undefined,
    AUDIT_LOG_FILE: reader.get('AUDIT_LOG_FILE'),
  };
  for (const [name, file] of Object.entries(writtenFiles)) {
    const error = file && describePathError(path.resolve(file));
    if (error) errors.push(`${name}: ${error}.`);
  }
  return errors;
}

/** Reads and checks all settings and the files that they name. Throws one ConfigError with all errors. */
export function readStartConfig(environment?: Environment): Config {
  const errors = findFileErrors(createEnvReader(environment));
  try {
    const config = readConfig(environment);
    if (errors.length === 0) return config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    errors.unshift(...error.errors);
  }
  throw new ConfigError(errors);
}
