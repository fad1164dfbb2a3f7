import { accessSync, constants, existsSync, statSync, statfsSync } from 'node:fs';
import path from 'node:path';
import { sqliteFileOf } from '../../datasources/journal/create-journal';
import { describePathError } from '../../datasources/journal/journal-open-error';
import { errorOrCauseCode } from '../../shared/error-code';
import { finding, type CheckContext, type Finding } from './check';
import { readCredentialsFileEntries } from './service-credentials';

const MIB = 1024 * 1024;
const DISK_WARN_BELOW_MIB = 1024;
const DISK_FAIL_BELOW_MIB = 64;
const OTHERS_READ_BIT = 0o004;
const OTHERS_WRITE_BIT = 0o002;

/** Checks that a file can be written, or created as the gateway does at start, and that its disk has space. */
export function checkWritableFile(setting: string, file: string): Finding[] {
  const absolutePath = path.resolve(file);
  const error = describePathError(absolutePath);
  if (error) return [finding.failed('path_unusable', `${setting}: ${error}.`)];
  const stateText = existsSync(absolutePath) ? 'is writable' : 'does not exist yet; the gateway creates it';
  return [finding.ok(`${file} ${stateText}.`), checkDiskSpace(path.dirname(absolutePath))];
}

/** Checks the free disk space of a folder; if it does not exist, that of its parent folder, which must exist. */
function checkDiskSpace(folder: string): Finding {
  const { bavail, bsize } = statfsSync(existsSync(folder) ? folder : path.dirname(folder));
  const freeMib = Math.floor((bavail * bsize) / MIB);
  const message = `The disk of ${folder} has ${freeMib} MiB free.`;
  if (freeMib >= DISK_WARN_BELOW_MIB) return finding.ok(message);
  return (freeMib < DISK_FAIL_BELOW_MIB ? finding.failed : finding.warning)('disk_space_low', message);
}

/** Checks that the audit log can be written and its disk has space. Only `audit verify` checks the content. */
export const checkAuditLogFile = ({ config }: CheckContext): Finding[] =>
  checkWritableFile('AUDIT_LOG_FILE', config.auditFile);

/** Checks that this user can read all existing sensitive files, and that none is world-readable or world-writable. */
export function checkFilePermissions(context: CheckContext): Finding[] {
  const files = sensitiveFilesOf(context).filter(([, file]) => existsSync(file));
  const skippedMessage =
    'File permissions were not checked: none of the secret files, key files, journal and audit log exists yet.';
  if (files.length === 0) return [finding.skipped(skippedMessage)];
  const findings = files.flatMap(([name, file]) => checkFileMode(name, file));
  if (findings.length > 0) return findings;
  const names = files.map(([name]) => name).join(', ');
  return [finding.ok(`Not readable or writable by every user of this machine: ${names}.`)];
}

/**
 * Returns the name and the path of each file that only the gateway's user should access. The path is '' if no such file
 * is configured.
 */
function sensitiveFilesOf({ config, secretFiles }: CheckContext): [name: string, file: string][] {
  const { credentialsFile } = config.service;
  const files: [name: string, file: string][] = [
    ['SERVICE_CREDENTIALS_FILE', credentialsFile ?? ''],
    ['CLIENT_KEYS_FILE', config.access.clientKeysFile ?? ''],
    ['the journal (DATABASE_URL)', sqliteFileOf(config.journal.url.reveal()) ?? ''],
    ['AUDIT_LOG_FILE', config.auditFile],
  ];
  for (const { setting, path: file } of secretFiles) files.push([setting, file]);
  for (const file of readCredentialsFileEntries(credentialsFile).keyFiles)
    files.push([`${file} (SERVICE_CREDENTIALS_FILE)`, file]);
  return files;
}

function checkFileMode(name: string, file: string): Finding[] {
  try {
    accessSync(file, constants.R_OK);
    const stats = statSync(file);
    if (stats.isDirectory()) return [];
    if (stats.mode & OTHERS_WRITE_BIT)
      return [finding.failed('world_writable', `Every user of this machine may write ${name}.`)];
    if (stats.mode & OTHERS_READ_BIT)
      return [finding.warning('world_readable', `Every user of this machine may read ${name}.`)];
    return [];
  } catch (error) {
    return [finding.failed('not_readable', `${name} cannot be read (${errorOrCauseCode(error)}).`)];
  }
}
