import { BlockList, isIPv4, isIPv6 } from 'node:net';
import type { UrlPolicy } from '../../config/types';
import type { InputRuleName } from '../../schema/input-rules';
import type { FieldError } from '../../schema/user-errors';
import { isLoopback } from '../../shared/loopback';
import { fieldError } from './validate-input';

/** Address ranges that public hosts do not use, most of them from the IANA registry: network and prefix length. */
const NON_PUBLIC_IPV4_RANGES: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8], // "this network"
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // carrier-grade NAT; metadata service of Alibaba Cloud
  ['127.0.0.0', 8], // loopback
  ['168.63.129.16', 32], // platform service of Azure
  ['169.254.0.0', 16], // link-local; metadata service of most clouds
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16], // private
  ['198.18.0.0', 15], // benchmarks
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, broadcast
];

/** IPv6 ranges within 2000::/3 that are not public. All addresses outside 2000::/3 count as not public. */
const NON_PUBLIC_IPV6_RANGES: readonly (readonly [string, number])[] = [
  ['2001::', 23], // protocol assignments, Teredo
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4
  ['3fff::', 20], // documentation
];

const nonPublicBlockList = new BlockList();
NON_PUBLIC_IPV4_RANGES.forEach(([network, bits]) => nonPublicBlockList.addSubnet(network, bits, 'ipv4'));
NON_PUBLIC_IPV6_RANGES.forEach(([network, bits]) => nonPublicBlockList.addSubnet(network, bits, 'ipv6'));

const globalUnicastList = new BlockList();
globalUnicastList.addSubnet('2000::', 3, 'ipv6');

/** Matches host names that resolve only inside a network or on one machine, or never (onion, invalid). */
const INTERNAL_HOST_NAME_PATTERN =
  /(^|\.)(localhost|localdomain|local|internal|intranet|private|corp|home|lan|arpa|onion|invalid)$/;

/** Matches a host name, an IPv4 address (dotted decimal) or an IPv6 address (in brackets), with or without a port. */
const AUTHORITY_PATTERN =
  /^((?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.)*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::[1-9]\d{0,4})?$/;

/** Matches a text with only the characters of RFC 3986, section 2. All others must be percent-encoded. */
const URL_CHARACTERS_PATTERN = /^(?:[\w\-.~:/?#[\]@!$&'()*+,;=]|%[0-9a-f]{2})+$/i;

/** Splits a URL into scheme and authority, both in lower case, and the rest from the first "/", "?" or "#" on. */
function splitUrl(url: string) {
  const [, scheme = '', authority = '', rest = ''] = /^([^:]*):\/\/([^/?#]*)(.*)$/s.exec(url) ?? [];
  return { scheme: scheme.toLowerCase(), authority: authority.toLowerCase(), rest };
}

/** Returns the host of a URL as browsers parse it, without IPv6 brackets or a final dot; null for an invalid URL. */
function hostOf(url: string): string | null {
  return URL.canParse(url) ? new URL(url).hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '') : null;
}

function isPublicHost(host: string): boolean {
  if (isIPv4(host)) return !nonPublicBlockList.check(host, 'ipv4');
  if (isIPv6(host)) return globalUnicastList.check(host, 'ipv6') && !nonPublicBlockList.check(host, 'ipv6');
  return host.includes('.') && !INTERNAL_HOST_NAME_PATTERN.test(host);
}

/** Whether every URL parser reads `host` as the host. The service gets the URL unchanged and may use another parser. */
function isUnambiguousUrl(
  url: string,
  { authority, rest }: ReturnType<typeof splitUrl>,
  host: string,
): boolean {
  const [, rawHost = ''] = AUTHORITY_PATTERN.exec(authority) ?? [];
  const isSameHost = isIPv6(host) ? rawHost.startsWith('[') : rawHost === host;
  // Some parsers accept credentials anywhere before the first slash.
  const mayHaveCredentials = /^[?#][^/]*@/.test(rest);
  return URL_CHARACTERS_PATTERN.test(url) && isSameHost && !mayHaveCredentials && rest.split('#').length <= 2;
}

const isAllowedHost = (host: string, allowedHosts: readonly string[]): boolean =>
  allowedHosts.some((allowedPattern) =>
    allowedPattern.startsWith('*.') ? host.endsWith(allowedPattern.slice(1)) : host === allowedPattern,
  );

type RuleWithMessage = readonly [name: InputRuleName, message: string];

const HTTPS_RULE: RuleWithMessage = ['https', 'must begin with https://.'];
const HTTPS_OR_LOOPBACK_RULE: RuleWithMessage = [
  'https',
  'must begin with https://; http:// is allowed for loopback hosts only.',
];
const NO_CREDENTIALS_RULE: RuleWithMessage = ['noCredentials', 'must not contain a user name or password.'];
const PLAIN_URL_RULE: RuleWithMessage = [
  'plainUrl',
  'must be an unambiguous http or https URL: only RFC 3986 characters (percent-encode others; write international host names as xn--), and a host name or IP address in its usual notation, without a trailing dot.',
];
const PUBLIC_HOST_RULE: RuleWithMessage = [
  'publicAddress',
  'must name a public host: no private, link-local, loopback or metadata address and no name of an internal network.',
];
const ALLOWED_HOST_RULE: RuleWithMessage = [
  'allowedHost',
  'must name a host that the configuration of this gateway allows.',
];

function findBrokenRules(url: string, urlPolicy: UrlPolicy): RuleWithMessage[] {
  const urlParts = splitUrl(url);
  const host = hostOf(url);
  if (host === null || !/^https?$/.test(urlParts.scheme)) return [PLAIN_URL_RULE];
  const isAllowedLoopback = urlPolicy.allowsLoopback && (isLoopback(host) || host.endsWith('.localhost'));
  const brokenRules: (RuleWithMessage | false)[] = [
    urlParts.scheme !== 'https' &&
      !isAllowedLoopback &&
      (urlPolicy.allowsLoopback ? HTTPS_OR_LOOPBACK_RULE : HTTPS_RULE),
    urlParts.authority.includes('@') && NO_CREDENTIALS_RULE,
    !urlParts.authority.includes('@') && !isUnambiguousUrl(url, urlParts, host) && PLAIN_URL_RULE,
    !isPublicHost(host) && !isAllowedLoopback && PUBLIC_HOST_RULE,
    urlPolicy.allowedHosts !== null && !isAllowedHost(host, urlPolicy.allowedHosts) && ALLOWED_HOST_RULE,
  ];
  return brokenRules.filter((rule) => rule !== false);
}

export type UrlFields = Partial<Record<'returnUrl' | 'callbackUrl', string | null>>;

/** Returns an error for every broken rule. Does not resolve host names, so public names of private addresses pass. */
export function validateUrls(input: UrlFields, urlPolicy: UrlPolicy): FieldError[] {
  return (['returnUrl', 'callbackUrl'] as const).flatMap((fieldName) => {
    const url = input[fieldName];
    if (url === null || url === undefined) return [];
    return findBrokenRules(url, urlPolicy).map(([rule, message]) => fieldError([fieldName], rule, message));
  });
}
