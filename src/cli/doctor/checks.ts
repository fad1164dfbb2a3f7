import { auditLog } from './audit-log';
import { clientKeys, tokenKeys } from './auth-keys';
import type { Check } from './check';
import { fileDescriptors } from './descriptors';
import { filePermissions } from './files';
import { journal } from './journal';
import { ports } from './ports';
import { publicUrl } from './public-url';
import { nodeVersion, settings } from './runtime';
import { credentials } from './service-credentials';
import { serviceConnection, serviceName } from './service-network';

/** Every check, in the order of the report; docs/doctor.md explains each. */
export const CHECKS: readonly Check[] = [
  nodeVersion,
  settings,
  fileDescriptors,
  serviceName,
  serviceConnection,
  credentials,
  journal,
  clientKeys,
  tokenKeys,
  filePermissions,
  auditLog,
  ports,
  publicUrl,
];
