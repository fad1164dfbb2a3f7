import { BlockList, isIP, isIPv6 } from 'node:net';

const IPV4_MAPPED_PREFIX = '::ffff:';

/** Returns the network that usually belongs to one client: an IPv4 address, or an IPv6 /64 network. */
export function clientNetwork(address: string): string {
  if (address.startsWith(IPV4_MAPPED_PREFIX) && address.includes('.'))
    return address.slice(IPV4_MAPPED_PREFIX.length);
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.replace(/%.*$/, '').split('::');
  const headGroups = head === '' ? [] : head.split(':');
  const tailGroups = tail ? tail.split(':') : [];
  const zeroGroupCount = tail === undefined ? 0 : 8 - headGroups.length - tailGroups.length;
  return [...headGroups, ...Array<string>(zeroGroupCount).fill('0'), ...tailGroups].slice(0, 4).join(':');
}

/** Returns a function that tests whether an address is in one of `networks`, such as 10.0.0.0/8 or ::1. */
export function addressMatcher(networks: readonly string[]): (address: string) => boolean {
  const networkBlockList = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    const family = isIPv6(address) ? 'ipv6' : 'ipv4';
    if (prefix === undefined) networkBlockList.addAddress(address, family);
    else networkBlockList.addSubnet(address, Number(prefix), family);
  }
  // BlockList also matches an IPv4-mapped IPv6 address with an IPv4 network.
  return (address) => isIP(address) > 0 && networkBlockList.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}
