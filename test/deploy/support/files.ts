import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { SETTINGS } from '../../../src/config/env-vars';
import { temporaryFolder } from '../../support/cleanup';
import { CHECKOUT } from '../../support/program';

/** Creates a folder that every user may enter, on a disk that allows hard links. It is removed after the tests. */
export function openFolder(): string {
  const folder = temporaryFolder('/var/tmp');
  spawnSync('chmod', ['0755', folder]);
  return folder;
}

export const textOf = (file: string): string => readFileSync(path.join(CHECKOUT, file), 'utf8');

export const yamlOf = (file: string): unknown => parse(textOf(file), { merge: true }) as unknown;

export const envOf = (file: string): Record<string, string> =>
  Object.fromEntries(
    [...textOf(file).matchAll(/^([^#=\n]+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
  );

const KNOWN = new Set(
  Object.entries(SETTINGS).flatMap(([name, setting]) =>
    'isSecret' in setting ? [name, `${name}_FILE`] : [name],
  ),
);

export const unknownSettings = (names: readonly string[]): string[] =>
  names.filter((name) => !KNOWN.has(name));

/** Returns the names of settings with invalid values. Paths of secrets are not checked. */
export const invalidSettings = (settings: Readonly<Record<string, string>>): string[] =>
  Object.entries<{ parser: { parse(text: string): unknown } }>(SETTINGS)
    .filter(([name, { parser }]) => settings[name] && parser.parse(settings[name]) === undefined)
    .map(([name]) => name);

/** Returns the seconds after SHUTDOWN_DELAY_MS in which requests in flight may complete. */
export const graceSeconds = (settings: Readonly<Record<string, string>>): number =>
  Number(settings['SHUTDOWN_GRACE_MS'] ?? SETTINGS.SHUTDOWN_GRACE_MS.default) / 1000;

/** Returns the seconds after SIGTERM in which requests are still accepted. */
export const delaySeconds = (settings: Readonly<Record<string, string>>): number =>
  Number(settings['SHUTDOWN_DELAY_MS'] ?? SETTINGS.SHUTDOWN_DELAY_MS.default) / 1000;

/** A call waits for the service at most twice: for its response, and for the lookup after a lost one. */
export const LONGEST_CALL_SECONDS = (2 * Number(SETTINGS.SERVICE_TIMEOUT_MS.default)) / 1000;

/** Returns the reason why tests that need these programs are skipped; undefined if all are installed. */
export function lacking(...programs: string[]): string | undefined {
  const missing = programs.filter((program) => spawnSync('which', [program]).status !== 0);
  return missing.length > 0 ? `SKIPPED: ${missing.join(', ')} is not installed here` : undefined;
}

/** Like `describe`. If `lack` is given, the tests are skipped with this reason in the title. */
export function describeWhere(lack: string | undefined, name: string, tests: () => void): void {
  if (lack === undefined) return void describe(name, tests);
  console.warn(`${lack}: ${name}`);
  describe.skip(`${name} (${lack})`, tests);
}
