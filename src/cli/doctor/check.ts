import type { Config } from '../../config';

/**
 * What a check found. `skipped`: it does not apply to these settings. `says` and `mend` are for the operator and never
 * hold a value of a secret.
 */
export interface Finding {
  status: 'ok' | 'warning' | 'failed' | 'skipped';
  says: string;
  /** How to mend it, where there is something to mend. */
  mend?: string;
}

/** What is looked at. */
export interface Examined {
  config: Config;
  /** The files that secrets are given in, by the names of their settings. */
  secretFiles: readonly { setting: string; path: string }[];
  /** The merchant channel that the service is asked for with the default credentials; undefined: one of nobody. */
  channel: string | undefined;
  /** The time, in milliseconds since 1970. */
  now(): number;
}

/** One thing that is looked at. Rejects where it could not be. */
export interface Check {
  /** What the report, and docs/doctor.md, call it. */
  name: string;
  run(examined: Examined): Promise<Finding[]> | Finding[];
}

export const ok = (says: string): Finding => ({ status: 'ok', says });
export const skipped = (says: string): Finding => ({ status: 'skipped', says });
export const warning = (says: string, mend: string): Finding => ({ status: 'warning', says, mend });
export const failed = (says: string, mend: string): Finding => ({ status: 'failed', says, mend });

/** What checks of the service say with the embedded sandbox. */
export const NO_SERVICE = skipped(
  'SERVICE_BASE_URL is not set: the embedded sandbox is used, no real service.',
);

/** The system's word for an error: ECONNREFUSED, CERT_HAS_EXPIRED, …; never its message, which may hold more. */
export function wordOf(error: unknown): string {
  const { code, cause } = Object(error) as { code?: unknown; cause?: unknown };
  if (typeof code === 'string') return code;
  return cause === undefined ? 'no reason given' : wordOf(cause);
}
