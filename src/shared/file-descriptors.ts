import { readFileSync } from 'node:fs';

/** File descriptor limit that is assumed if the real limit cannot be read. */
const ASSUMED_DESCRIPTOR_LIMIT = 1024;

/**
 * Number of file descriptors that are reserved, so that client connections do not use them: 384 for connections to the
 * payment service, 384 for the embedded sandbox, the rest for journal, files, logs and DNS. If this number is more than
 * half of the file descriptor limit, only half of the limit is reserved.
 */
const RESERVED_DESCRIPTORS = 1024;

/** Maximum number of client connections, even if the file descriptor limit allows more. */
const MAX_CLIENT_CONNECTIONS = 18_000;

/**
 * Returns the soft limit of file descriptors, which Node.js has already raised to the hard limit at start. Returns
 * Infinity if there is no limit; null if the limit is unknown, for example outside Linux.
 */
export function fileDescriptorLimit(): number | null {
  try {
    const [, soft = ''] = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === 'unlimited' ? Infinity : Number.parseInt(soft, 10) || null;
  } catch {
    return null;
  }
}

/** Returns the maximum number of client connections for a limit of file descriptors, which is null if unknown. */
export function maxClientConnections(descriptorLimit: number | null): number {
  const effectiveLimit = descriptorLimit ?? ASSUMED_DESCRIPTOR_LIMIT;
  return Math.min(
    MAX_CLIENT_CONNECTIONS,
    effectiveLimit - Math.min(RESERVED_DESCRIPTORS, Math.ceil(effectiveLimit / 2)),
  );
}
