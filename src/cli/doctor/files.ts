import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { failed, ok, skipped, warning, wordOf, type Check, type Examined, type Finding } from './check';

const OTHERS_READ = 0o004;
const OTHERS_WRITE = 0o002;

interface Place {
  /** How the operator knows it. */
  name: string;
  path: string;
  /** What who reads it has. */
  holds: string;
}

/** Whether what is secret, or decides who may call, can be read or written by every user of this machine. */
export const filePermissions: Check = {
  name: 'file permissions',
  run: (examined) => {
    const places = placesOf(examined);
    const findings = places.flatMap(judge);
    if (findings.length > 0) return findings;
    return places.length === 0
      ? [skipped('There are no files of secrets.')]
      : [ok(`Files that are for the gateway's user alone: ${places.map(({ name }) => name).join(', ')}.`)];
  },
};

function placesOf({ config, secretFiles }: Examined): Place[] {
  const { credentialsFile } = config.service;
  const { clientKeysFile } = config.access;
  const places: (Place | false)[] = [
    ...secretFiles.map(({ setting, path }) => ({ name: setting, path, holds: 'a secret' })),
    credentialsFile !== null && {
      name: 'SERVICE_CREDENTIALS_FILE',
      path: credentialsFile,
      holds: 'the keys of the service',
    },
    ...filesBeside(credentialsFile),
    clientKeysFile !== null && { name: 'CLIENT_KEYS_FILE', path: clientKeysFile, holds: 'who may call' },
    ...journalFiles(config.journal.url.reveal()),
    { name: 'AUDIT_LOG_FILE', path: config.auditFile, holds: 'who moved which money' },
  ];
  return places.filter((place) => place !== false).filter(({ path }) => existsSync(path));
}

/** The journal, where it is a SQLite file, and what SQLite keeps beside it. */
function journalFiles(url: string): Place[] {
  if (!url.startsWith('file:')) return [];
  const file = url.slice('file:'.length);
  return ['', '-wal', '-shm'].map((end) => ({
    name: end === '' ? 'the journal' : `${file}${end}`,
    path: `${file}${end}`,
    holds: 'who created which payments',
  }));
}

/** The files that SERVICE_CREDENTIALS_FILE names; none where it cannot be read, which another check says. */
function filesBeside(file: string | null): Place[] {
  if (file === null) return [];
  try {
    const { default: others, channels = {} } = JSON.parse(readFileSync(file, 'utf8')) as Named;
    return [others, ...Object.values(channels)]
      .flatMap((entry) => [entry?.apiKeyFile, ...(entry?.secretKeyFiles ?? [])])
      .filter((named) => typeof named === 'string')
      .map((named) => path.resolve(path.dirname(file), named))
      .map((named) => ({
        name: `${named} (of SERVICE_CREDENTIALS_FILE)`,
        path: named,
        holds: 'a key of the service',
      }));
  } catch {
    return [];
  }
}

interface NamedEntry {
  apiKeyFile?: string;
  secretKeyFiles?: string[];
}

interface Named {
  default?: NamedEntry;
  channels?: Record<string, NamedEntry>;
}

function judge({ name, path: file, holds }: Place): Finding[] {
  try {
    accessSync(file, constants.R_OK);
    const found = statSync(file);
    // That it is no file is for the check that uses it.
    if (found.isDirectory()) return [];
    const { mode } = found;
    if (mode & OTHERS_WRITE)
      return [failed(`Every user of this machine may write ${name}, which holds ${holds}.`, chmod(file))];
    if (mode & OTHERS_READ)
      return [warning(`Every user of this machine may read ${name}, which holds ${holds}.`, chmod(file))];
    return [];
  } catch (error) {
    return [
      failed(`${name} cannot be read (${wordOf(error)}).`, 'Give it to the user of the gateway (chown).'),
    ];
  }
}

const chmod = (file: string): string =>
  `chmod 600 ${file}, as the user of the gateway; in Kubernetes set defaultMode: 0400 for the volume.`;
