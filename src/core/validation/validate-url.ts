import type { UrlPolicy } from '../../config/types';
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import type { InputRule } from '../../schema/input-rules';
import type { FieldError } from '../../schema/user-errors';
import { fieldError } from './validate-input';

/** Ranges that no public host has (the IANA special-purpose registries), as [network, bits]. */
const NOT_PUBLIC_IPV4: readonly (readonly [string, number])[] = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // carriers' NAT; a cloud keeps its metadata here
  ['127.0.0.0', 8], // loopback
  ['168.63.129.16', 32], // a cloud's platform service
  ['169.254.0.0', 16], // link-local; the metadata of most clouds
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

/** Within 2000::/3, outside of which nothing is public: neither mapped, compatible and NAT64 nor fc00::/7, fe80::/10. */
const NOT_PUBLIC_IPV6: readonly (readonly [string, number])[] = [
  ['2001::', 23], // protocol assignments, Teredo among them
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

/** Names that mean something inside a network or a machine only. */
const INNER_NAMES =
  /(^|\.)(localhost|localdomain|local|internal|intranet|private|corp|home|lan|arpa|onion|invalid)$/;

/** A host name or an IPv4 address as everybody writes it, or an IPv6 address in brackets; perhaps a port. */
const AUTHORITY =
  /^((?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.)*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::[1-9]\d{0,4})?$/;

/** RFC 3986, 2: the only characters of an address; all others are percent-encoded. */
const CHARACTERS = /^(?:[\w\-.~:/?#[\]@!$&'()*+,;=]|%[0-9a-f]{2})+$/i;

interface Written {
  scheme: string;
  /** Between "//" and the next "/", "?" or "#", in lower case. */
  authority: string;
  rest: string;
}

function split(text: string): Written {
  const [, scheme = '', authority = '', rest = ''] = /^([^:]*):\/\/([^/?#]*)(.*)$/s.exec(text) ?? [];
  return { scheme: scheme.toLowerCase(), authority: authority.toLowerCase(), rest };
}

/** The host as a browser reads it: numbers in any notation are IPv4 addresses, without brackets; null where it is none. */
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

/** Whether every reader finds the same host in a text: it goes to the service as it was written. */
function isPlain(text: string, { authority, rest }: Written, host: string): boolean {
  const [, written = ''] = AUTHORITY.exec(authority) ?? [];
  const sameHost = isIPv6(host) ? written.startsWith('[') : written === host;
  // Some readers look for credentials as far as the first slash.
  const oddAt = /^[?#][^/]*@/.test(rest);
  return CHARACTERS.test(text) && sameHost && !oddAt && rest.split('#').length <= 2;
}

const isListed = (host: string, hosts: readonly string[]): boolean =>
  hosts.some((listed) => (listed.startsWith('*.') ? host.endsWith(listed.slice(1)) : host === listed));

type Rule = readonly [name: InputRule, says: string];

const HTTPS: Rule = ['https', 'must begin with https.'];
const HTTPS_OR_HERE: Rule = ['https', 'must begin with https; http is for this machine only.'];
const NO_CREDENTIALS: Rule = ['noCredentials', 'must not carry a user name or password.'];
const PLAIN: Rule = [
  'plainUrl',
  'must be written plainly: characters of RFC 3986 only (others percent-encoded, international names as xn--), the host as a name or an address in its usual form without a dot at its end.',
];
const PUBLIC: Rule = [
  'publicAddress',
  'must name a public host: no private, link-local, loopback or metadata address and no name of an internal network.',
];
const ALLOWED: Rule = ['allowedHost', 'must name a host that this gateway is set to allow.'];

function brokenRules(text: string, policy: UrlPolicy): Rule[] {
  const written = split(text);
  const host = hostOf(text);
  if (host === null || !/^https?$/.test(written.scheme)) return [PLAIN];
  const here = policy.loopback && isLoopback(host);
  const rules: (Rule | false)[] = [
    written.scheme !== 'https' && !here && (policy.loopback ? HTTPS_OR_HERE : HTTPS),
    written.authority.includes('@') && NO_CREDENTIALS,
    !written.authority.includes('@') && !isPlain(text, written, host) && PLAIN,
    !isPublic(host) && !here && PUBLIC,
    policy.hosts !== null && !isListed(host, policy.hosts) && ALLOWED,
  ];
  return rules.filter((rule) => rule !== false);
}

/**
 * What is wrong with the addresses of an input that the service is to call or to send the payer to. Names are not
 * resolved: what a public name points to is its owner's choice, and the list of hosts is the answer to that.
 */
export function urlFaults(
  input: { returnUrl?: string | null; callbackUrl?: string | null },
  policy: UrlPolicy,
): FieldError[] {
  return (['returnUrl', 'callbackUrl'] as const).flatMap((name) => {
    const text = input[name];
    if (text === null || text === undefined) return [];
    return brokenRules(text, policy).map(([rule, says]) => fieldError([name], rule, says));
  });
}
