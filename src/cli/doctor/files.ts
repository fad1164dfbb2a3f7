import { accessSync, constants, existsSync, statSync, statfsSync } from 'node:fs';
import path from 'node:path';
import { causeCode } from '../context';
import { failed, ok, skipped, warning, type CheckContext, type Finding } from './check';
import { credentialEntries } from './service-credentials';

const MIB = 1024 * 1024;
const WARNING_MIB = 1024;
const FAILED_MIB = 64;
const OTHERS_READ = 0o004;
const OTHERS_WRITE = 0o002;

/** Whether this process may write to a file or folder. */
export function isWritable(target: string): boolean {
  try {
    accessSync(target, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function nearestExistingParent(file: string): string {
  const parent = path.dirname(path.resolve(file));
  return existsSync(parent) || parent === path.dirname(parent) ? parent : nearestExistingParent(parent);
}

/** Checks that a file of the gateway can be written, or created where it does not exist. */
export function checkWritable(file: string): Finding {
  const exists = existsSync(file);
  const target = exists ? file : nearestExistingParent(file);
  const isFolder = statSync(target).isDirectory();
  if (isFolder === exists) return failed('not_a_file', `${target} is ${isFolder ? 'a' : 'no'} folder.`);
  if (!isWritable(target)) return notWritable(target);
  return ok(exists ? `${file} is writable.` : `${file} does not exist yet; the gateway creates it.`);
}

export const notWritable = (target: string): Finding => failed('not_writable', `${target} is not writable.`);

/** Checks the free space on the disk of a file, which need not exist. */
export function checkDiskSpace(file: string): Finding {
  const folder = nearestExistingParent(file);
  const { bavail, bsize } = statfsSync(folder);
  const free = Math.floor((bavail * bsize) / MIB);
  const message = `${free} MiB are free on the disk of ${folder}.`;
  if (free >= WARNING_MIB) return ok(message);
  const report = free < FAILED_MIB ? failed : warning;
  return report('disk_space_low', message);
}

/** Checks that the audit log can be written. `paygraph audit verify` checks its content. */
export function checkAuditLog({ config }: CheckContext): Finding[] {
  const file = path.resolve(config.auditFile);
  // The gateway creates one folder at most.
  if (!existsSync(path.dirname(path.dirname(file))))
    return [failed('no_folder', `The folder of ${file} does not exist.`)];
  return [checkWritable(file), checkDiskSpace(file)];
}

/** Checks that other users of this machine cannot read or write files with secrets or permissions. */
export function checkFilePermissions(context: CheckContext): Finding[] {
  const files = sensitiveFiles(context).filter(([, file]) => existsSync(file));
  if (files.length === 0) return [skipped('There is no file with secrets.')];
  const findings = files.flatMap(([name, file]) => checkPermissions(name, file));
  return findings.length > 0
    ? findings
    : [ok(`Only the user of the gateway may access: ${files.map(([name]) => name).join(', ')}.`)];
}

/** Names and paths of files that only the gateway's user may access. */
function sensitiveFiles({ config, secretFiles }: CheckContext): [name: string, file: string][] {
  const { credentialsFile } = config.service;
  const { clientKeysFile } = config.access;
  const journalUrl = config.journal.url.reveal();
  return [
    ...secretFiles.map(({ setting, path: file }): [string, string] => [setting, file]),
    ['SERVICE_CREDENTIALS_FILE', credentialsFile ?? ''],
    ...namedFiles(credentialsFile).map((file): [string, string] => [
      `${file} (SERVICE_CREDENTIALS_FILE)`,
      file,
    ]),
    ['CLIENT_KEYS_FILE', clientKeysFile ?? ''],
    ['the journal', journalUrl.startsWith('file:') ? journalUrl.slice('file:'.length) : ''],
    ['AUDIT_LOG_FILE', config.auditFile],
  ];
}

/** The files that SERVICE_CREDENTIALS_FILE names; none where it is malformed, which checkCredentials reports. */
function namedFiles(credentialsFile: string | null): string[] {
  try {
    return credentialEntries(credentialsFile).files;
  } catch {
    return [];
  }
}

function checkPermissions(name: string, file: string): Finding[] {
  try {
    accessSync(file, constants.R_OK);
    const stats = statSync(file);
    if (stats.isDirectory()) return [];
    if (stats.mode & OTHERS_WRITE)
      return [failed('world_writable', `Every user of this machine may write ${name}.`)];
    if (stats.mode & OTHERS_READ)
      return [warning('world_readable', `Every user of this machine may read ${name}.`)];
    return [];
  } catch (error) {
    return [failed('not_readable', `${name} cannot be read (${causeCode(error)}).`)];
  }
}
