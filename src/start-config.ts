import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ClientKeys } from './access/client-keys';
import { ConfigError, environment, readConfig, type Config } from './config';
import { placeFault } from './datasources/journal/journal-open-error';
import { textOfFile } from './json-text';
import { SettingsReader, type Environment } from './settings';
import { SETTINGS } from './settings-table';
import { faultOfFile } from './watched-file';

const readText = (file: string): string => textOfFile(readFileSync(file));

/** Files that are read at start, by the names of their settings. Each throws where the file cannot be used. */
const READ = {
  CLIENT_KEYS_FILE: (file: string) => void new ClientKeys(readText(file)),
  // What needs the schema is loaded where it is set: a process that only starts workers does without.
  SERVICE_CREDENTIALS_FILE: async (file: string, reader: SettingsReader) => {
    // The sandbox does not read it.
    if (!reader.has('SERVICE_BASE_URL')) return;
    const { readCredentialsFile } = await import('./datasources/service/credentials-file.js');
    readCredentialsFile(readText(file), (named) => readText(path.resolve(path.dirname(file), named)));
  },
  PERSISTED_OPERATIONS: async (manifest: string, reader: SettingsReader) => {
    const { PersistedOperations } = await import('./http/persisted-operations.js');
    const { gatewaySchema, subgraphSchema } = await import('./resolvers/index.js');
    const isSubgraph = SETTINGS.SUBGRAPH.read(reader.text('SUBGRAPH', SETTINGS.SUBGRAPH) ?? '') ?? false;
    const settings = { manifest, frontends: 'allow', services: 'allow' } as const;
    const schema = isSubgraph ? subgraphSchema() : gatewaySchema();
    new PersistedOperations({ settings, schema, unlisted: () => undefined });
  },
};

type ReadSetting = keyof typeof READ;

/** Faults of the files that settings name: files that are read, and the folders of files that are written. */
async function fileFaults(env: Environment): Promise<string[]> {
  const reader = new SettingsReader(env);
  const faults: string[] = [];
  for (const name of Object.keys(READ) as ReadSetting[]) {
    const file = reader.text(name, SETTINGS[name]);
    try {
      if (file !== undefined) await READ[name](file, reader);
    } catch (error) {
      faults.push(`${name}: ${faultOfFile(error)}.`);
    }
  }
  const journal = reader.text('DATABASE_URL', SETTINGS.DATABASE_URL) ?? 'file:data/paygraph.db';
  const written = {
    DATABASE_URL: journal.startsWith('file:') ? journal.slice('file:'.length) : undefined,
    AUDIT_LOG_FILE: reader.text('AUDIT_LOG_FILE', SETTINGS.AUDIT_LOG_FILE) ?? 'data/audit.log',
  };
  for (const [name, file] of Object.entries(written)) {
    const fault = file && placeFault(path.resolve(file));
    if (fault) faults.push(`${name}: ${fault}.`);
  }
  return faults;
}

/**
 * Reads and checks every setting, and every file that a setting names. Throws one ConfigError that names all that is wrong.
 */
export async function readStartConfig(env: Environment = environment()): Promise<Config> {
  const faults: string[] = [];
  const config = attempt(() => readConfig(env), faults);
  faults.push(...(await fileFaults(env)));
  if (!config || faults.length > 0) throw new ConfigError(faults);
  return config;
}

/** Runs a reader and returns its result. Undefined when it throws a ConfigError, whose faults are added to `faults`. */
function attempt(read: () => Config, faults: string[]): Config | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    faults.push(...error.faults);
    return undefined;
  }
}
