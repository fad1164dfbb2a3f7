import { accessSync, constants, existsSync, statSync, statfsSync } from 'node:fs';
import path from 'node:path';
import { sqlitePathOf } from '../../datasources/journal/create-journal';
import { describePathError } from '../../datasources/journal/journal-open-error';
import { errorOrCauseCode } from '../../shared/error-code';
import { findingOf, type CheckContext, type Finding } from './check';
import { readChannelsAndKeyPaths } from './service-credentials';

const MIB = 1024 * 1024;
const DISK_WARN_BELOW_MIB = 1024;
const DISK_FAIL_BELOW_MIB = 64;
const OTHERS_READ_BIT = 0o004;
const OTHERS_WRITE_BIT = 0o002;

/** Checks that a file can be written, or created as the gateway does at start, and that its disk has space. */
export function checkWritableFile(settingName: string, filePath: string): Finding[] {
  const absolutePath = path.resolve(filePath);
  const error = describePathError(absolutePath);
  if (error) return [findingOf.failed('path_unusable', `${settingName}: ${error}.`)];
  const stateText = existsSync(absolutePath) ? 'is writable' : 'does not exist yet; the gateway creates it';
  return [findingOf.ok(`${filePath} ${stateText}.`), checkDiskSpace(path.dirname(absolutePath))];
}

/** Checks the free disk space of a folder; if it does not exist, that of its parent folder, which must exist. */
function checkDiskSpace(folderPath: string): Finding {
  const { bavail, bsize } = statfsSync(existsSync(folderPath) ? folderPath : path.dirname(folderPath));
  const freeMib = Math.floor((bavail * bsize) / MIB);
  const message = `The disk of ${folderPath} has ${freeMib} MiB free.`;
  if (freeMib >= DISK_WARN_BELOW_MIB) return findingOf.ok(message);
  return (freeMib < DISK_FAIL_BELOW_MIB ? findingOf.failed : findingOf.warning)('disk_space_low', message);
}

/** Checks that the audit log can be written and its disk has space. Only `audit verify` checks the content. */
export const checkAuditLogFile = ({ config }: CheckContext): Finding[] =>
  checkWritableFile('AUDIT_LOG_FILE', config.auditFile);

/** Checks that this user can read all existing sensitive files, and that none is world-readable or world-writable. */
export function checkFilePermissions(context: CheckContext): Finding[] {
  const labelledPaths = sensitiveFilesOf(context).filter(([, filePath]) => existsSync(filePath));
  const skippedMessage =
    'File permissions were not checked: none of the secret files, key files, journal and audit log exists yet.';
  if (labelledPaths.length === 0) return [findingOf.skipped(skippedMessage)];
  const findings = labelledPaths.flatMap(([label, filePath]) => checkFileMode(label, filePath));
  if (findings.length > 0) return findings;
  const labels = labelledPaths.map(([label]) => label).join(', ');
  return [findingOf.ok(`Neither world-readable nor world-writable: ${labels}.`)];
}

/**
 * Returns the name and the path of each file that only the gateway's user should access. The path is '' if no such file
 * is configured.
 */
function sensitiveFilesOf({ config, secretFiles }: CheckContext): [label: string, filePath: string][] {
  const { credentialsFile } = config.service;
  const labelledPaths: [label: string, filePath: string][] = [
    ['SERVICE_CREDENTIALS_FILE', credentialsFile ?? ''],
    ['CLIENT_KEYS_FILE', config.access.clientKeysFile ?? ''],
    ['the journal (DATABASE_URL)', sqlitePathOf(config.journal.url.reveal()) ?? ''],
    ['AUDIT_LOG_FILE', config.auditFile],
  ];
  for (const { variableName, filePath } of secretFiles) labelledPaths.push([variableName, filePath]);
  for (const filePath of readChannelsAndKeyPaths(credentialsFile).keyPaths)
    labelledPaths.push([`${filePath} (SERVICE_CREDENTIALS_FILE)`, filePath]);
  return labelledPaths;
}

function checkFileMode(label: string, filePath: string): Finding[] {
  try {
    accessSync(filePath, constants.R_OK);
    const stats = statSync(filePath);
    if (stats.isDirectory()) return [];
    if (stats.mode & OTHERS_WRITE_BIT)
      return [findingOf.failed('world_writable', `Every user of this machine may write ${label}.`)];
    if (stats.mode & OTHERS_READ_BIT)
      return [findingOf.warning('world_readable', `Every user of this machine may read ${label}.`)];
    return [];
  } catch (error) {
    return [findingOf.failed('not_readable', `${label} cannot be read (${errorOrCauseCode(error)}).`)];
  }
}
