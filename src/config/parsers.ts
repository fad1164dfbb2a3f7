import { isIP } from 'node:net';
import { isLoopback } from '../shared/loopback';
import { parsePollIntervals } from '../shared/poll-intervals';
import { PostgresUrlError, checkPostgresUrl } from '../shared/postgres-url';
import { Secret } from '../shared/secret';

export interface Parser<T> {
  /** Completes the sentence "expected …". */
  expected: string;
  /** The value; undefined for an invalid text. */
  parse(text: string): T | undefined;
  /** Replaces `expected` in the error; must not contain any part of the text. */
  describeError?(text: string): string;
}

const matching = (expected: string, pattern: RegExp): Parser<string> => ({
  expected,
  parse: (text) => (pattern.test(text) ? text : undefined),
});

export const wholeNumber = (min: number, max: number): Parser<number> => ({
  expected: `a whole number from ${min} to ${max}`,
  parse: (text) => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
    return number >= min && number <= max ? number : undefined;
  },
});

export const decimalFraction: Parser<number> = {
  expected: 'a number from 0 to 1',
  parse: (text) => (/^(0?\.\d{1,9}|0|1(\.0{1,9})?)$/.test(text) ? Number(text) : undefined),
};

export const oneOf = <W extends string>(...words: readonly W[]): Parser<W> => ({
  expected: `one of: ${words.join(', ')}`,
  parse: (text) => words.find((word) => word === text),
});

export const onOff: Parser<boolean> = {
  expected: 'on or off',
  parse: (text) => ({ on: true, off: false })[text],
};

export const listOf = <T>(what: string, item: (text: string) => T | undefined): Parser<readonly T[]> => ({
  expected: `${what}, separated by commas`,
  parse: (text) => {
    const values = text.split(',').map((part) => item(part.trim()));
    return values.every((value) => value !== undefined) ? values : undefined;
  },
});

export const printableText: Parser<string> = matching('printable text', /^[^\p{Cc}]{1,4096}$/u);
export const filePath: Parser<string> = matching('the path of a file', /^[^\p{Cc}]{1,4096}$/u);
export const hostName: Parser<string> = matching('an IP address or a host name', /^[\w.:-]{1,253}$/);

/** Printable ASCII without blanks, because it is sent in a header. */
export const apiCredential: Parser<Secret> = {
  expected: 'printable ASCII characters without blanks',
  parse: (text) => (/^[\x21-\x7e]{1,1024}$/.test(text) ? new Secret(text) : undefined),
};

export const jsonFieldName = (text: string): string | undefined =>
  /^[\w.-]{1,64}$/.test(text) ? text : undefined;

export const hostNamePattern = (text: string): string | undefined =>
  /^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*$/i.test(text) ? text.toLowerCase() : undefined;

export const webOrigin = (text: string): string | undefined =>
  URL.canParse(text) && new URL(text).origin === text ? text : undefined;

export function ipNetwork(text: string): string | undefined {
  const [address = '', bits, ...more] = text.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return undefined;
  const fits = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
  return fits ? text : undefined;
}

function checkDatabaseUrl(text: string): string | undefined {
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

/** The URL may contain a password. */
export const databaseUrl: Parser<Secret> = {
  expected: 'file:<path> or postgres://<user>@<host>:<port>/<database>',
  parse: (text) => (checkDatabaseUrl(text) === undefined ? new Secret(text) : undefined),
  describeError: (text) => checkDatabaseUrl(text) ?? '',
};

interface UrlRules {
  expected: string;
  query?: boolean;
  /** Whether plain http is allowed for other hosts than loopback. */
  anyHttp?: boolean;
  /** The value; undefined if a further condition is not met. */
  value(url: URL, text: string): string | undefined;
}

/** A URL without credentials and fragment. */
const url = ({ expected, query = false, anyHttp = false, value }: UrlRules): Parser<string> => ({
  expected,
  parse: (text) => {
    if (!URL.canParse(text)) return undefined;
    const parsed = new URL(text);
    const { protocol, hostname, username, password, search, hash } = parsed;
    const isSafe = protocol === 'https:' || (protocol === 'http:' && (anyHttp || isLoopback(hostname)));
    const isBare = username + password + hash === '' && (query || (!/[?#]/.test(text) && search === ''));
    return isSafe && isBare ? value(parsed, text) : undefined;
  },
});

export const baseUrl = url({
  expected:
    'an https URL that ends with /, without api/v1/, credentials, query or fragment (plain http for loopback only)',
  value: ({ pathname, href }, text) =>
    text.endsWith('/') && !pathname.includes('/api/v1/') ? href : undefined,
});

export const issuerUrl = url({
  expected: 'an https URL without credentials or fragment (plain http for loopback only)',
  query: true,
  value: ({ href }) => href,
});

export const publicUrl = url({
  expected: 'an https URL without credentials, query or fragment (plain http for loopback only)',
  value: ({ href }) => href.replace(/\/+$/, ''),
});

/** Plain http is allowed, because collectors are often in the same network; credentials belong in a header. */
export const collectorUrl = url({
  expected: 'an http or https URL without credentials, query or fragment',
  anyHttp: true,
  value: ({ href }) => href,
});

export const pollIntervals = {
  expected:
    'intervals such as 1s/30s 5s/10m 60s: how often (100ms to 24h), until how long after the last change',
  parse: parsePollIntervals,
};

function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Pairs such as a=1,b=2%2C3; undefined if one is malformed. */
function parsePairs(text: string, namePattern: RegExp, valuePattern: RegExp): [string, string][] | undefined {
  const pairs = text.split(',').map((part): [string, string] | undefined => {
    const [, name = '', encoded = ''] = /^\s*([^=]*?)\s*=\s*(.*?)\s*$/s.exec(part) ?? [];
    const value = percentDecoded(encoded);
    return namePattern.test(name) && value !== undefined && valuePattern.test(value)
      ? [name, value]
      : undefined;
  });
  return pairs.every((pair) => pair !== undefined) ? pairs : undefined;
}

/** Header names except those that describe the body and the connection. */
const HEADER_NAME =
  /^(?!(host|connection|keep-alive|transfer-encoding|content-(length|type|encoding))$)[!#$%&'*+.^`|~\w-]{1,256}$/i;

export const exporterHeaders: Parser<Readonly<Record<string, Secret>>> = {
  expected: 'pairs such as authorization=Bearer%20abc, percent-encoded, separated by commas',
  parse: (text) => {
    const pairs = parsePairs(text, HEADER_NAME, /^[\x20-\x7e]{1,4096}$/);
    return pairs && Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), new Secret(value)]));
  },
};

export const attributes: Parser<Readonly<Record<string, string>>> = {
  expected: 'pairs such as name=value, percent-encoded, separated by commas',
  parse: (text) => {
    const pairs = parsePairs(text, /^[\x21-\x7e]{1,255}$/, /^[^\p{Cc}]{0,255}$/u);
    return pairs && Object.fromEntries(pairs);
  },
};
