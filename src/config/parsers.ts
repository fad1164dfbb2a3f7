import { isIP } from 'node:net';
import { isLoopback } from '../shared/loopback';
import { parsePollIntervals } from '../shared/poll-intervals';
import { PostgresUrlError, checkPostgresUrl } from '../shared/postgres-url';
import { Secret } from '../shared/secret';

export interface Parser<T> {
  /** The valid values, as a phrase that follows the word "expected". */
  expectation: string;
  /** Returns the value; undefined if the text is invalid. */
  parse(text: string): T | undefined;
  /**
   * Returns an error message for an invalid text. The message contains no secret from the text. If this method is
   * omitted, the message is `expected <expectation>`.
   */
  describeError?(text: string): string;
}

/** Definition of an environment variable. docs/configuration.md is generated from these definitions. */
export interface Setting<T> {
  description: string;
  /** The text that is parsed if the variable is not set. */
  default?: string;
  /** Default shown in docs/configuration.md if the setting has no `default`. If omitted, the shown text is 'none'. */
  whenUnset?: string;
  parser: Parser<T>;
  /** True if the value is never printed. <NAME>_FILE can then name a file that contains the value. */
  isSecret?: true;
}

const patternParser = (expectation: string, pattern: RegExp): Parser<string> => ({
  expectation,
  parse: (text) => (pattern.test(text) ? text : undefined),
});

export const wholeNumberParser = (min: number, max: number): Parser<number> => ({
  expectation: `a whole number from ${min} to ${max}`,
  parse: (text) => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
    return number >= min && number <= max ? number : undefined;
  },
});

export const fractionParser: Parser<number> = {
  expectation: 'a number from 0 to 1',
  parse: (text) => (/^(0?\.\d{1,9}|0|1(\.0{1,9})?)$/.test(text) ? Number(text) : undefined),
};

export const oneOfParser = <W extends string>(...words: readonly W[]): Parser<W> => ({
  expectation: `one of: ${words.join(', ')}`,
  parse: (text) => words.find((word) => word === text),
});

export const onOffParser: Parser<boolean> = {
  expectation: 'on or off',
  parse: (text) => ({ on: true, off: false })[text],
};

/** Returns a parser of comma-separated lists. `plural`: plural noun for the items, for error messages. */
export const listParser = (plural: string, isItem: (text: string) => boolean): Parser<readonly string[]> => ({
  expectation: `${plural}, separated by commas`,
  parse: (text) => {
    const values = text.split(',').map((item) => item.trim());
    return values.every(isItem) ? values : undefined;
  },
});

export const printableTextParser: Parser<string> = patternParser('printable text', /^[^\p{Cc}]{1,4096}$/u);
export const filePathParser: Parser<string> = patternParser('the path of a file', /^[^\p{Cc}]{1,4096}$/u);
export const hostParser: Parser<string> = patternParser('an IP address or a host name', /^[\w.:-]{1,253}$/);

/** An API key, secret key or token: printable ASCII without spaces, because some are sent in HTTP headers. */
export const apiCredentialParser: Parser<Secret> = {
  expectation: 'printable ASCII characters without spaces',
  parse: (text) => (/^[\x21-\x7e]{1,1024}$/.test(text) ? new Secret(text) : undefined),
};

export const isJsonFieldName = (text: string): boolean => /^[\w.-]{1,64}$/.test(text);

export const isHostNamePattern = (text: string): boolean => /^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*$/i.test(text);

export const isWebOrigin = (text: string): boolean => URL.canParse(text) && new URL(text).origin === text;

export function isIpNetwork(text: string): boolean {
  const [address = '', prefixBits = '0', ...extraParts] = text.split('/');
  const ipVersion = isIP(address);
  if (ipVersion === 0 || extraParts.length > 0) return false;
  return /^\d{1,3}$/.test(prefixBits) && Number(prefixBits) <= (ipVersion === 4 ? 32 : 128);
}

/** Returns why a database URL is invalid; undefined if it is valid. The reason contains no password. */
function findDatabaseUrlError(text: string): string | undefined {
  if (text.startsWith('file:'))
    return /^file:[^?#\s]+$/.test(text) ? undefined : 'expected file:<path> without spaces, ? and #';
  if (!/^postgres(ql)?:\/\//.test(text)) return `expected ${databaseUrlParser.expectation}`;
  try {
    checkPostgresUrl(text);
    return undefined;
  } catch (error) {
    if (error instanceof PostgresUrlError) return error.message;
    throw error;
  }
}

/** Parses the URL of the journal to a Secret, because the URL may contain a password. */
export const databaseUrlParser: Parser<Secret> = {
  expectation: 'file:<path> or postgres://<user>@<host>:<port>/<database>',
  parse: (text) => (findDatabaseUrlError(text) === undefined ? new Secret(text) : undefined),
  describeError: (text) => findDatabaseUrlError(text) ?? '',
};

interface UrlParserOptions {
  expectation: string;
  /** Whether the URL may have a query. Default: no. */
  allowQuery?: boolean;
  /** Whether plain http is allowed for every host. Default: for loopback hosts only. */
  allowAnyHttp?: boolean;
  /** Converts the URL to the setting's value; undefined if the URL violates a rule that only this setting has. */
  toValue(url: URL, text: string): string | undefined;
}

/** Returns a parser of https URLs without user name, password and fragment. */
const urlParser = ({ expectation, allowQuery, allowAnyHttp, toValue }: UrlParserOptions): Parser<string> => ({
  expectation,
  parse: (text) => {
    if (!URL.canParse(text)) return undefined;
    const url = new URL(text);
    const { protocol, hostname, username, password, search, hash } = url;
    const hasAllowedProtocol =
      protocol === 'https:' || (protocol === 'http:' && (allowAnyHttp || isLoopback(hostname)));
    const hasAllowedParts =
      username + password + hash === '' && (allowQuery || (!/[?#]/.test(text) && search === ''));
    return hasAllowedProtocol && hasAllowedParts ? toValue(url, text) : undefined;
  },
});

export const baseUrlParser = urlParser({
  expectation:
    'an https URL that ends with /, without api/v1/, credentials, query or fragment (plain http for loopback only)',
  toValue: ({ pathname, href }, text) =>
    text.endsWith('/') && !pathname.includes('/api/v1/') ? href : undefined,
});

export const jwksUrlParser = urlParser({
  expectation: 'an https URL without credentials or fragment (plain http for loopback only)',
  allowQuery: true,
  toValue: ({ href }) => href,
});

export const publicUrlParser = urlParser({
  expectation: 'an https URL without credentials, query or fragment (plain http for loopback only)',
  toValue: ({ href }) => href.replace(/\/+$/, ''),
});

/** URL of an OpenTelemetry collector. Plain http is allowed, because many collectors are in the gateway's network. */
export const collectorUrlParser = urlParser({
  expectation: 'an http or https URL without credentials, query or fragment',
  allowAnyHttp: true,
  toValue: ({ href }) => href,
});

export const pollIntervalsParser = {
  expectation:
    'intervals (100ms to 24h) such as 1s/30s 5s/10m 60s: every 1s until 30s after the last change, every 5s until 10m after it, then every 60s',
  parse: parsePollIntervals,
};

function decodePercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

/** Parses pairs such as a=1,b=2%2C3 and decodes their values. Returns undefined if a pair is malformed. */
function parsePairs(text: string, namePattern: RegExp, valuePattern: RegExp): [string, string][] | undefined {
  const pairs = text.split(',').map((pairText): [string, string] | undefined => {
    const [, name = '', encodedValue = ''] = /^\s*([^=]*?)\s*=\s*(.*?)\s*$/s.exec(pairText) ?? [];
    const value = decodePercent(encodedValue);
    return namePattern.test(name) && value !== undefined && valuePattern.test(value)
      ? [name, value]
      : undefined;
  });
  return pairs.every((pair) => pair !== undefined) ? pairs : undefined;
}

/** Matches header names, except those of headers that the exporter or its HTTP client sets. */
const EXPORTER_HEADER_NAME_PATTERN =
  /^(?!(host|connection|keep-alive|transfer-encoding|content-(length|type|encoding))$)[!#$%&'*+.^`|~\w-]{1,256}$/i;

export const exporterHeadersParser: Parser<Readonly<Record<string, Secret>>> = {
  expectation: 'pairs such as authorization=Bearer%20abc, percent-encoded, separated by commas',
  parse: (text) => {
    const pairs = parsePairs(text, EXPORTER_HEADER_NAME_PATTERN, /^[\x20-\x7e]{1,4096}$/);
    return pairs && Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), new Secret(value)]));
  },
};

export const resourceAttributesParser: Parser<Readonly<Record<string, string>>> = {
  expectation: 'pairs name=value separated by commas, with percent-encoded values',
  parse: (text) => {
    const pairs = parsePairs(text, /^[\x21-\x7e]{1,255}$/, /^[^\p{Cc}]{0,255}$/u);
    return pairs && Object.fromEntries(pairs);
  },
};
