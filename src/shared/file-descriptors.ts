import { readFileSync } from 'node:fs';

/** Limit of file descriptors that is assumed if the limit cannot be read. */
const ASSUMED_DESCRIPTOR_LIMIT = 1024;

/**
 * File descriptors for purposes other than client connections: 384 connections to the payment service, as many for an
 * embedded sandbox, the journal, files, logs and DNS. At most half of the limit is reserved.
 */
const RESERVED_DESCRIPTORS = 1024;

/** Maximum number of client connections, however high the limit of file descriptors is. */
const MAX_CLIENT_CONNECTIONS = 18_000;

/** Returns the limit of file descriptors; null if unknown. Node.js raises the soft limit to the hard limit at start. */
export function descriptorLimit(): number | null {
  try {
    const [, soft = ''] = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === 'unlimited' ? Infinity : Number.parseInt(soft, 10) || null;
  } catch {
    return null;
  }
}

/** Returns the maximum number of client connections for a limit of file descriptors. */
export function maxClientConnections(limit: number | null): number {
  const knownLimit = limit ?? ASSUMED_DESCRIPTOR_LIMIT;
  return Math.min(
    MAX_CLIENT_CONNECTIONS,
    knownLimit - Math.min(RESERVED_DESCRIPTORS, Math.ceil(knownLimit / 2)),
  );
}
