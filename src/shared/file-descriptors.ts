import { readFileSync } from 'node:fs';

/** Limit that is assumed where the system does not tell it. */
const ASSUMED_LIMIT = 1024;

/**
 * File descriptors that client connections leave free: 256 pooled and 128 unpooled connections to the payment service, as
 * many on the other side where the sandbox is embedded, and the journal, files, logs and DNS. At most half of the limit.
 */
const RESERVED = 1024;

/** More client connections than one process serves well. */
const MOST_CONNECTIONS = 18_000;

/**
 * How many file descriptors this process may open; null where the system does not tell. Node.js has raised the soft limit
 * to the hard limit when it started.
 */
export function descriptorLimit(): number | null {
  try {
    const [, soft = ''] = /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === 'unlimited' ? Infinity : Number.parseInt(soft, 10) || null;
  } catch {
    return null;
  }
}

/** How many client connections a process with that limit of file descriptors can hold. */
export function connectionCapacity(limit: number | null): number {
  const known = limit ?? ASSUMED_LIMIT;
  return Math.min(MOST_CONNECTIONS, known - Math.min(RESERVED, Math.ceil(known / 2)));
}
