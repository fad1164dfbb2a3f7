import { chmodSync } from 'node:fs';
import { API_KEY, SECRET_KEY, testSettings } from '../../support/gateway';
import type { Finding } from '../../../src/cli/doctor/check';
import type { Named } from '../../../src/cli/doctor/examine';
import { run } from './run';

/** Settings that nothing is wrong with, as long as the service at that address is right. */
export function goodSettings(serviceUrl: string): Record<string, string> & { CLIENT_KEYS_FILE: string } {
  const settings = testSettings() as Record<string, string> & { CLIENT_KEYS_FILE: string };
  chmodSync(settings.CLIENT_KEYS_FILE, 0o600);
  return {
    ...settings,
    PORT: '0',
    SERVICE_BASE_URL: serviceUrl,
    SERVICE_API_KEY: API_KEY,
    SERVICE_SECRET_KEY: SECRET_KEY,
  };
}

/** An address that nobody listens at: port 1 is for those who may, and who do not. */
export const NOBODY = 'http://127.0.0.1:1/';

/** What `paygraph doctor --json` finds. */
export interface Report {
  code: number | null;
  failed: number;
  warnings: number;
  findings: Named[];
  /** Everything that it printed. */
  text: string;
  /** The findings of one check. */
  of(check: string): Finding[];
}

export async function doctor(env: Record<string, string>, ...args: string[]): Promise<Report> {
  const { code, out, err } = await run(['doctor', '--json', ...args], env);
  expect(err).toBe('');
  const report = JSON.parse(out) as Report;
  const of = (check: string): Finding[] => report.findings.filter((finding) => finding.check === check);
  return { ...report, code, text: out, of };
}
