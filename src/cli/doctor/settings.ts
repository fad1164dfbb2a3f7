import { connectionCapacity, descriptorLimit } from '../../shared/file-descriptors';
import { ok, warning, type CheckContext, type Finding } from './check';

/** Reports suspicious settings, and limits that exceed the number of file descriptors of this process. */
export function checkSettings({ config }: CheckContext): Finding[] {
  const findings = config.warnings.map((message) => warning('suspicious_setting', message));
  const capacity = connectionCapacity(descriptorLimit());
  const limits = {
    MAX_CONNECTIONS: config.limits.maxConnections ?? 0,
    MAX_SUBSCRIPTIONS: config.subscriptions.maxSubscriptions,
  };
  for (const [name, limit] of Object.entries(limits)) {
    const message = `${name} is ${limit}, but the limit of file descriptors allows ${capacity} client connections.`;
    if (limit > capacity) findings.push(warning('descriptor_limit_low', message));
  }
  return findings.length > 0 ? findings : [ok('All settings are valid.')];
}
