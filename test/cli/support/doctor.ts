import { chmodSync } from 'node:fs';
import { serviceSettings } from '../../support/gateway';
import type { NamedFinding } from '../../../src/cli/doctor/run-checks';
import { run } from './run';

export type Settings = Record<string, string>;

/** Returns settings in which the doctor finds no fault if the service at `serviceUrl` has none. */
export function goodSettings(serviceUrl: string): Settings & { CLIENT_KEYS_FILE: string } {
  const settings = serviceSettings(serviceUrl) as Settings & { CLIENT_KEYS_FILE: string };
  chmodSync(settings.CLIENT_KEYS_FILE, 0o600);
  return settings;
}

/** A URL where nothing listens. */
export const NOBODY = 'http://127.0.0.1:1/';

/** The output of `paygraph doctor --json`. */
export interface Report {
  code: number | null;
  failed: number;
  findings: NamedFinding[];
  text: string;
  /** Returns the findings of one check that are not ok, as text. */
  faults(check: string): string[];
  /** Returns the findings of one check that are ok, as text. */
  good(check: string): string[];
}

export async function doctor(env: Settings, ...args: string[]): Promise<Report> {
  const { code, out, err } = await run(['doctor', '--json', ...args], env);
  expect(err).toBe('');
  const report = JSON.parse(out) as Report;
  // The free disk space of the test machine does not matter.
  const findings = report.findings.filter(({ message }) => !message.includes('MiB'));
  const textsOf = (name: string, isGood: boolean): string[] =>
    findings
      .filter(({ check, status }) => check === name && (status === 'ok') === isGood)
      .map(({ status, code, message, remedy = '' }) => `${status}: ${code}: ${message} (${remedy})`);
  return {
    ...report,
    code,
    text: out,
    faults: (check) => textsOf(check, false),
    good: (check) => textsOf(check, true),
  };
}

/** Matches a finding with a status and several words, which are given as "status: word; word …". */
export function finding(given: string): string {
  const [, status = '', names = ''] = /^(\w+):? ?(.*)$/.exec(given) ?? [];
  const escaped = names.split('; ').map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return expect.stringMatching(
    new RegExp(`^${status}:${escaped.map((name) => `(?=[^]*${name})`).join('')}`),
  ) as string;
}
