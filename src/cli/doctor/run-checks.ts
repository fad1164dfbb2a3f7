import { TimeoutError, withTimeout } from '../../shared/timeout';
import { causeCode } from '../context';
import { checkClientKeys, checkTokenKeys } from './auth-keys';
import { failed, type Check, type CheckContext, type Finding } from './check';
import { checkAuditLogFile, checkFilePermissions } from './files';
import { checkJournal } from './journal';
import { checkPorts, checkPublicUrl } from './network';
import { checkCredentials } from './service-credentials';
import { checkServiceConnection } from './service-connection';
import { checkSettings } from './settings';

/** Every check, in the order of the report. */
export const CHECKS: readonly Check[] = [
  { name: 'settings', run: checkSettings },
  { name: 'service connection', run: checkServiceConnection },
  { name: 'credentials', run: checkCredentials },
  { name: 'journal', run: checkJournal },
  { name: 'client keys', run: checkClientKeys },
  { name: 'token keys', run: checkTokenKeys },
  { name: 'file permissions', run: checkFilePermissions },
  { name: 'audit log', run: checkAuditLogFile },
  { name: 'ports', run: checkPorts },
  { name: 'public url', run: checkPublicUrl },
];

const CHECK_TIMEOUT_MS = 10_000;

export interface NamedFinding extends Finding {
  check: string;
}

/** Runs all checks concurrently. Resolves with the findings in the order of the checks; never rejects. */
export async function runChecks(
  checks: readonly Check[],
  context: CheckContext,
  timeoutMs = CHECK_TIMEOUT_MS,
): Promise<NamedFinding[]> {
  const results = await Promise.all(
    checks.map(async (check) => {
      const findings = await runCheck(check, context, timeoutMs);
      return findings.map((finding) => ({ check: check.name, ...finding }));
    }),
  );
  return results.flat();
}

async function runCheck(check: Check, context: CheckContext, timeoutMs: number): Promise<Finding[]> {
  try {
    return await withTimeout(timeoutMs, Promise.resolve(check.run(context)));
  } catch (error) {
    if (error instanceof TimeoutError)
      return [failed('timeout', `The check did not finish within ${timeoutMs / 1000} s.`)];
    return [failed('check_error', `The check failed unexpectedly (${causeCode(error)}).`)];
  }
}
