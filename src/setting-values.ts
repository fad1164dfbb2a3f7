import { isIP } from 'node:net';
import { checkPostgresUrl, PostgresUrlError } from './datasources/journal/postgres-url';
import { isLoopback } from './loopback';
import { readPace } from './operations/watching/schedule';

/** How the values of some settings are understood; undefined where a text is none. */

const isPrintable = (text: string): boolean => /^[^\p{Cc}]{1,4096}$/u.test(text);

export const databaseUrl = {
  expected:
    'file:<path> or postgres://<user>@<host>:<port>/<database>; several hosts are separated by commas (docs/deployment.md)',
  read: (text: string): string | undefined => (databaseUrlFault(text) === undefined ? text : undefined),
  fault: (text: string): string => databaseUrlFault(text) ?? '',
};

function databaseUrlFault(text: string): string | undefined {
  if (text.startsWith('file:'))
    return /^file:[^?#\s]+$/.test(text) ? undefined : 'expected file:<path> without blanks, ? and #';
  if (!/^postgres(ql)?:\/\//.test(text)) return `expected ${databaseUrl.expected}`;
  try {
    checkPostgresUrl(text);
    return undefined;
  } catch (error) {
    if (error instanceof PostgresUrlError) return error.message;
    throw error;
  }
}

export function readBaseUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  const bare = url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  const safe = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname));
  const isBase = text.endsWith('/') && !url.pathname.includes('/api/v1/');
  return bare && safe && isBase ? url.href : undefined;
}

export function readJwksUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, hostname, username, password, hash, href } = new URL(text);
  const safe = protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
  return safe && username === '' && password === '' && hash === '' ? href : undefined;
}

export function readPublicUrl(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, hostname, username, password, search, hash, href } = new URL(text);
  const safe = protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
  return safe && username + password + search + hash === '' ? href.replace(/\/+$/, '') : undefined;
}

export function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

export const filePath = {
  expected: 'the path of a file',
  read: (text: string): string | undefined => (isPrintable(text) ? text : undefined),
};

export const pace = {
  expected: 'steps such as 1s/30s 5s/10m 60s: how often (100ms to 24h), until how long after the last change',
  read: readPace,
};

export const words = {
  expected: 'printable text',
  read: (text: string): string | undefined => (isPrintable(text) ? text : undefined),
};
