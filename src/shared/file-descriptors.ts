import { readFileSync } from 'node:fs';

/** Assumed if the limit cannot be read. */
const DEFAULT_LIMIT = 1024;

/**
 * File descriptors for other purposes than client connections: 384 connections to the payment service, as many of an embedded
 * sandbox, the journal, files, logs and DNS. At most half of the limit.
 */
const RESERVED = 1024;

const MAX_CONNECTIONS = 18_000;

/** The limit of file descriptors; null if unknown. Node.js raises the soft limit to the hard limit at start. */
export function descriptorLimit(): number | null {
  try {
    const [, soft = ''] = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === 'unlimited' ? Infinity : Number.parseInt(soft, 10) || null;
  } catch {
    return null;
  }
}

/** The number of client connections that a limit of file descriptors allows. */
export function connectionCapacity(limit: number | null): number {
  const known = limit ?? DEFAULT_LIMIT;
  return Math.min(MAX_CONNECTIONS, known - Math.min(RESERVED, Math.ceil(known / 2)));
}
