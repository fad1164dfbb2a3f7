import type { Config } from '../../config';

/** Result of a check. The texts are for the operator and never contain the value of a secret. */
export interface Finding {
  /** `skipped`: the check does not apply to these settings. */
  status: 'ok' | 'warning' | 'failed' | 'skipped';
  /** Names the problem, for scripts; the status where there is none. */
  code: string;
  message: string;
  /** How to fix the problem. */
  remedy?: string;
}

/** Input of every check. */
export interface CheckContext {
  config: Config;
  /** Files with secrets, by the names of their settings. */
  secretFiles: readonly { setting: string; path: string }[];
  /** The channel for lookups with the default credentials; undefined: a random one. */
  channel: string | undefined;
  /** The time in ms since 1970. */
  now(): number;
}

export interface Check {
  /** The name in the report and in docs/doctor.md. */
  name: string;
  run(context: CheckContext): Promise<Finding[]> | Finding[];
}

export const ok = (message: string): Finding => ({ status: 'ok', code: 'ok', message });
export const skipped = (message: string): Finding => ({ status: 'skipped', code: 'skipped', message });
export const warning = (code: string, message: string, remedy: string): Finding => ({
  status: 'warning',
  code,
  message,
  remedy,
});
export const failed = (code: string, message: string, remedy: string): Finding => ({
  status: 'failed',
  code,
  message,
  remedy,
});

/** Result of the checks of the payment service when the embedded sandbox is used. */
export const NO_SERVICE = skipped('SERVICE_BASE_URL is not set: the gateway uses the embedded sandbox.');
