import type { UrlPolicy } from '../../config/types';
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import type { InputRule } from '../../schema/input-rules';
import type { FieldError } from '../../schema/user-errors';
import { fieldError } from './validate-input';

/** Special-purpose ranges (IANA registries) that no public host has, as [network, prefix length]. */
const NOT_PUBLIC_IPV4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // carrier-grade NAT; metadata service of a cloud
  ['127.0.0.0', 8], // loopback
  ['168.63.129.16', 32], // platform service of a cloud
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

/** Exceptions within 2000::/3. Everything else outside 2000::/3 (mapped, NAT64, fc00::/7, fe80::/10) is not public. */
const NOT_PUBLIC_IPV6: readonly (readonly [string, number])[] = [
  ['2001::', 23], // protocol assignments, Teredo
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4
  ['3fff::', 20], // documentation
];

const notPublic = new BlockList();
NOT_PUBLIC_IPV4.forEach(([network, bits]) => notPublic.addSubnet(network, bits, 'ipv4'));
NOT_PUBLIC_IPV6.forEach(([network, bits]) => notPublic.addSubnet(network, bits, 'ipv6'));

const unicast = new BlockList();
unicast.addSubnet('2000::', 3, 'ipv6');

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** Names that resolve only inside a network or on one machine. */
const INNER_NAMES =
  /(^|\.)(localhost|localdomain|local|internal|intranet|private|corp|home|lan|arpa|onion|invalid)$/;

/** A host name, an IPv4 address in dotted-decimal form, or an IPv6 address in brackets; optionally a port. */
const AUTHORITY =
  /^((?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.)*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::[1-9]\d{0,4})?$/;

/** RFC 3986, section 2: all other characters are percent-encoded. */
const CHARACTERS = /^(?:[\w\-.~:/?#[\]@!$&'()*+,;=]|%[0-9a-f]{2})+$/i;

interface UrlParts {
  scheme: string;
  /** Between "//" and the next "/", "?" or "#", in lower case. */
  authority: string;
  rest: string;
}

function splitUrl(text: string): UrlParts {
  const [, scheme = '', authority = '', rest = ''] = /^([^:]*):\/\/([^/?#]*)(.*)$/s.exec(text) ?? [];
  return { scheme: scheme.toLowerCase(), authority: authority.toLowerCase(), rest };
}

/** The host as a browser parses it (numbers in any notation become IPv4 addresses), without brackets; null when invalid. */
function hostOf(text: string): string | null {
  return URL.canParse(text) ? new URL(text).hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '') : null;
}

function isLoopback(host: string): boolean {
  if (isIPv4(host)) return loopback.check(host, 'ipv4');
  return isIPv6(host) ? host === '::1' : /(^|\.)localhost$/.test(host);
}

function isPublic(host: string): boolean {
  if (isIPv4(host)) return !notPublic.check(host, 'ipv4');
  if (isIPv6(host)) return unicast.check(host, 'ipv6') && !notPublic.check(host, 'ipv6');
  return host.includes('.') && !INNER_NAMES.test(host);
}

/** Whether every URL parser finds the same host: the service receives the text unchanged. */
function isPlain(text: string, { authority, rest }: UrlParts, host: string): boolean {
  const [, rawHost = ''] = AUTHORITY.exec(authority) ?? [];
  const sameHost = isIPv6(host) ? rawHost.startsWith('[') : rawHost === host;
  // Some parsers accept credentials anywhere before the first slash.
  const oddAt = /^[?#][^/]*@/.test(rest);
  return CHARACTERS.test(text) && sameHost && !oddAt && rest.split('#').length <= 2;
}

const isListed = (host: string, hosts: readonly string[]): boolean =>
  hosts.some((listed) => (listed.startsWith('*.') ? host.endsWith(listed.slice(1)) : host === listed));

type Rule = readonly [name: InputRule, message: string];

const HTTPS: Rule = ['https', 'must begin with https.'];
const HTTPS_OR_LOOPBACK: Rule = ['https', 'must begin with https; http is allowed for loopback hosts only.'];
const NO_CREDENTIALS: Rule = ['noCredentials', 'must not carry a user name or password.'];
const PLAIN: Rule = [
  'plainUrl',
  'must be written plainly: characters of RFC 3986 only (others percent-encoded, international names as xn--), the host as a name or an address in its usual form without a dot at its end.',
];
const PUBLIC: Rule = [
  'publicAddress',
  'must name a public host: no private, link-local, loopback or metadata address and no name of an internal network.',
];
const ALLOWED: Rule = [
  'allowedHost',
  'must name a host that is allowed in the configuration of this gateway.',
];

function brokenRules(text: string, policy: UrlPolicy): Rule[] {
  const parts = splitUrl(text);
  const host = hostOf(text);
  if (host === null || !/^https?$/.test(parts.scheme)) return [PLAIN];
  const isAllowedLoopback = policy.loopback && isLoopback(host);
  const rules: (Rule | false)[] = [
    parts.scheme !== 'https' && !isAllowedLoopback && (policy.loopback ? HTTPS_OR_LOOPBACK : HTTPS),
    parts.authority.includes('@') && NO_CREDENTIALS,
    !parts.authority.includes('@') && !isPlain(text, parts, host) && PLAIN,
    !isPublic(host) && !isAllowedLoopback && PUBLIC,
    policy.hosts !== null && !isListed(host, policy.hosts) && ALLOWED,
  ];
  return rules.filter((rule) => rule !== false);
}

export interface UrlInput {
  returnUrl?: string | null;
  callbackUrl?: string | null;
}

/** The rules that the URLs of an input break. Host names are not resolved; the allow list restricts public names. */
export function validateUrls(input: UrlInput, policy: UrlPolicy): FieldError[] {
  return (['returnUrl', 'callbackUrl'] as const).flatMap((name) => {
    const text = input[name];
    if (text === null || text === undefined) return [];
    return brokenRules(text, policy).map(([rule, message]) => fieldError([name], rule, message));
  });
}
