import { accessSync, constants, existsSync, statSync, statfsSync } from 'node:fs';
import path from 'node:path';
import { sqliteFileOf } from '../../datasources/journal/create-journal';
import { causeCode } from '../../shared/error-code';
import { failed, ok, skipped, warning, type CheckContext, type Finding } from './check';
import { readCredentialsFileEntries } from './service-credentials';

const MIB = 1024 * 1024;
const WARN_BELOW_MIB = 1024;
const FAIL_BELOW_MIB = 64;
const OTHERS_READ_BIT = 0o004;
const OTHERS_WRITE_BIT = 0o002;

/** Whether this process can write to a file or folder. */
export function isWritable(target: string): boolean {
  try {
    accessSync(target, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Returns the nearest existing parent path of a file. If this path is not a folder, the file cannot be created. */
function nearestExistingParent(file: string): string {
  const parent = path.dirname(path.resolve(file));
  return existsSync(parent) || parent === path.dirname(parent) ? parent : nearestExistingParent(parent);
}

/** Checks that the file of a setting can be written, or created if it does not exist. */
export function checkWritable(setting: string, file: string): Finding {
  const exists = existsSync(file);
  const target = exists ? file : nearestExistingParent(file);
  const isFolder = statSync(target).isDirectory();
  if (exists && isFolder) return failed('not_a_file', `${setting}: ${file} is a folder, not a file.`);
  if (!exists && !isFolder)
    return failed('not_a_file', `${setting}: ${file} cannot be created: ${target} is not a folder.`);
  if (!isWritable(target)) return notWritableFinding(setting, target);
  return ok(exists ? `${file} is writable.` : `${file} does not exist yet; the gateway creates it.`);
}

export const notWritableFinding = (setting: string, target: string): Finding =>
  failed('not_writable', `${setting}: ${target} is not writable.`);

/** Checks the free disk space for a file. The file need not exist. */
export function checkDiskSpace(file: string): Finding {
  const folder = nearestExistingParent(file);
  const { bavail, bsize } = statfsSync(folder);
  const freeMib = Math.floor((bavail * bsize) / MIB);
  const message = `The disk of ${folder} has ${freeMib} MiB free.`;
  if (freeMib >= WARN_BELOW_MIB) return ok(message);
  return (freeMib < FAIL_BELOW_MIB ? failed : warning)('disk_space_low', message);
}

/** Checks that the audit log can be written and its disk has space. Only `audit verify` checks the content. */
export function checkAuditLogFile({ config }: CheckContext): Finding[] {
  const file = path.resolve(config.auditFile);
  // The gateway creates the last folder of the path, but not the folder above it.
  if (!existsSync(path.dirname(path.dirname(file))))
    return [failed('no_folder', `AUDIT_LOG_FILE: the folder ${path.dirname(file)} does not exist.`)];
  return [checkWritable('AUDIT_LOG_FILE', file), checkDiskSpace(file)];
}

/** Checks that this user can read all existing sensitive files, and that none is world-readable or world-writable. */
export function checkFilePermissions(context: CheckContext): Finding[] {
  const files = sensitiveFilesOf(context).filter(([, file]) => existsSync(file));
  const skippedMessage =
    'File permissions were not checked: none of the secret files, key files, journal and audit log exists yet.';
  if (files.length === 0) return [skipped(skippedMessage)];
  const findings = files.flatMap(([name, file]) => checkFileMode(name, file));
  if (findings.length > 0) return findings;
  const names = files.map(([name]) => name).join(', ');
  return [ok(`Not readable or writable by every user of this machine: ${names}.`)];
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
  for (const file of readCredentialsFileEntries(credentialsFile).files)
    files.push([`${file} (SERVICE_CREDENTIALS_FILE)`, file]);
  return files;
}

function checkFileMode(name: string, file: string): Finding[] {
  try {
    accessSync(file, constants.R_OK);
    const stats = statSync(file);
    if (stats.isDirectory()) return [];
    if (stats.mode & OTHERS_WRITE_BIT)
      return [failed('world_writable', `Every user of this machine may write ${name}.`)];
    if (stats.mode & OTHERS_READ_BIT)
      return [warning('world_readable', `Every user of this machine may read ${name}.`)];
    return [];
  } catch (error) {
    return [failed('not_readable', `${name} cannot be read (${causeCode(error)}).`)];
  }
}
