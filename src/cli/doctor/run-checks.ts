import { PersistedOperations } from '../../http/persisted/persisted-operations';
import { buildGatewaySchema, buildSubgraphSchema } from '../../resolvers';
import { maxClientConnections, fileDescriptorLimit } from '../../shared/file-descriptors';
import { describeFileError } from '../../shared/hot-reloaded-file';
import { TimeoutError, withTimeout } from '../../shared/timeout';
import { errorOrCauseCode } from '../../shared/error-code';
import { checkClientKeys, checkTokenKeys } from './auth-keys';
import { findingOf, type Check, type CheckContext, type Finding } from './check';
import { checkAuditLogFile, checkFilePermissions } from './files';
import { checkJournal } from './journal';
import { checkPorts, checkPublicUrl, checkServiceConnection } from './network';
import { checkCredentials } from './service-credentials';

/** All checks, in the order of the report. */
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

/** Runs checks concurrently. Returns findings in the order of `checks`. A check that throws or times out has failed. */
export async function runChecks(
  checks: readonly Check[],
  context: CheckContext,
  timeoutMs = CHECK_TIMEOUT_MS,
): Promise<NamedFinding[]> {
  const findingPromises = checks.map(async ({ name, run }) => {
    const findingsPromise = Promise.resolve().then(() => run(context));
    const findings = await withTimeout(timeoutMs, findingsPromise).catch((error: unknown) =>
      error instanceof TimeoutError
        ? [findingOf.failed('timeout', `The check did not finish within ${timeoutMs / 1000} s.`)]
        : [findingOf.failed('check_error', `The check failed unexpectedly (${errorOrCauseCode(error)}).`)],
    );
    return findings.map((finding) => ({ check: name, ...finding }));
  });
  return (await Promise.all(findingPromises)).flat();
}

/**
 * Reports suspicious settings, an invalid manifest of persisted operations, and connection limits that are too high for
 * the file descriptor limit.
 */
function checkSettings({ config }: CheckContext): Finding[] {
  const findings: Finding[] = config.warnings.map((message) =>
    findingOf.warning('suspicious_setting', message),
  );
  try {
    const schema = config.subgraph ? buildSubgraphSchema() : buildGatewaySchema();
    new PersistedOperations({ settings: config.limits.persisted, schema, onUnlisted: () => undefined });
  } catch (error) {
    findings.push(findingOf.failed('manifest_invalid', `PERSISTED_OPERATIONS: ${describeFileError(error)}.`));
  }
  const clientConnectionCapacity = maxClientConnections(fileDescriptorLimit());
  const configuredLimits = {
    MAX_CONNECTIONS: config.limits.maxConnections ?? 0,
    MAX_SUBSCRIPTIONS: config.subscriptions.maxSubscriptions,
  };
  for (const [name, limit] of Object.entries(configuredLimits)) {
    const message = `${name} is ${limit}, but the gateway accepts only ${clientConnectionCapacity} connections: at most 18000, and fewer if its limit of file descriptors is low.`;
    if (limit > clientConnectionCapacity) findings.push(findingOf.warning('descriptor_limit_low', message));
  }
  return findings.length > 0 ? findings : [findingOf.ok('All settings are valid.')];
}
