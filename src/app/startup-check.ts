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
 * Parses the files of client keys, service credentials and persisted operations. Tests access to the SQLite file and
 * the audit log. Returns error messages. readConfig() reads the other files, such as <NAME>_FILE of secrets.
 */
function findFileErrors(reader: ReturnType<typeof createEnvReader>): string[] {
  const errorTexts: string[] = [];
  const checkFile = (setting: Parameters<typeof reader.rawText>[0], parse: (filePath: string) => unknown) => {
    const filePath = reader.rawText(setting);
    try {
      if (filePath !== undefined) parse(filePath);
    } catch (error) {
      errorTexts.push(`${setting}: ${describeFileError(error)}.`);
    }
  };
  checkFile('CLIENT_KEYS_FILE', (filePath) => new ClientKeyStore(readTextFile(filePath)));
  // Without SERVICE_BASE_URL, the gateway runs with the embedded sandbox and ignores this file.
  if (reader.has('SERVICE_BASE_URL'))
    checkFile('SERVICE_CREDENTIALS_FILE', (filePath) =>
      parseCredentialsFile(readTextFile(filePath), (referencedPath) =>
        readTextFile(path.resolve(path.dirname(filePath), referencedPath)),
      ),
    );
  checkFile('PERSISTED_OPERATIONS', (manifestPath) => {
    const persistedSettings = { manifestPath, modeForFrontends: 'allow', modeForServices: 'allow' } as const;
    const schema = reader.get('SUBGRAPH') ? buildSubgraphSchema() : buildGatewaySchema();
    return new PersistedOperations({ settings: persistedSettings, schema, onUnlisted: () => undefined });
  });
  const databaseUrl = reader.get('DATABASE_URL').reveal();
  const writtenPathBySetting = {
    DATABASE_URL: databaseUrl.startsWith('file:') ? databaseUrl.slice('file:'.length) : undefined,
    AUDIT_LOG_FILE: reader.get('AUDIT_LOG_FILE'),
  };
  for (const [setting, filePath] of Object.entries(writtenPathBySetting)) {
    const errorText = filePath && describePathError(path.resolve(filePath));
    if (errorText) errorTexts.push(`${setting}: ${errorText}.`);
  }
  return errorTexts;
}

/** Reads and checks all settings and the files that they name. Throws one ConfigError with all errors. */
export function readStartConfig(environment?: Environment): Config {
  const errorTexts = findFileErrors(createEnvReader(environment));
  try {
    const config = readConfig(environment);
    if (errorTexts.length === 0) return config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    errorTexts.unshift(...error.errors);
  }
  throw new ConfigError(errorTexts);
}
