import { lookup } from 'node:dns/promises';
import { BlockList, isIPv6 } from 'node:net';
import { failed, ok, skipped, warning, wordOf, type Check, type Finding } from './check';

const ANSWER_MS = 5_000;

/** Addresses that nobody outside of a network reaches. */
const PRIVATE = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const)
  PRIVATE.addSubnet(network, bits, 'ipv4');
for (const [network, bits] of [
  ['::', 127],
  ['fc00::', 7],
  ['fe80::', 10],
] as const)
  PRIVATE.addSubnet(network, bits, 'ipv6');

const isPrivate = (address: string): boolean => PRIVATE.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');

/**
 * Whether callbacks of the service can come in at PUBLIC_URL, as far as that shows from here: its name has a public
 * address, and a call to it gets the answer that a paygraph gives to callbacks. The token that it names is nobody's.
 */
export const publicUrl: Check = {
  name: 'public url',
  run: async ({ config }) => {
    if (config.publicUrl === null)
      return [skipped('PUBLIC_URL is not set: no callback is asked for, changes are found by looking.')];
    const { hostname } = new URL(config.publicUrl);
    const host = hostname.replace(/^\[(.*)\]$/, '$1');
    try {
      const addresses = (await lookup(host, { all: true })).map(({ address }) => address);
      return [judgeAddresses(host, addresses), await judgeAnswer(config.publicUrl)];
    } catch (error) {
      return [
        failed(
          `The host of PUBLIC_URL has no address (${wordOf(error)}).`,
          'Enter it in the DNS, or mend PUBLIC_URL: the service cannot call back.',
        ),
      ];
    }
  },
};

function judgeAddresses(host: string, addresses: readonly string[]): Finding {
  if (!addresses.every(isPrivate)) return ok(`${host} has a public address.`);
  return warning(
    `${host} is ${addresses.join(', ')}: an address that the service does not reach over the internet.`,
    'If the service is not in the same network, PUBLIC_URL has to name an address that it reaches.',
  );
}

async function judgeAnswer(url: string): Promise<Finding> {
  const mend =
    'From here it may look different than from the service (a proxy, a firewall). /callbacks/ below PUBLIC_URL has to reach a running gateway.';
  try {
    const { status } = await fetch(`${url}/callbacks/doctor`, {
      signal: AbortSignal.timeout(ANSWER_MS),
      redirect: 'manual',
    });
    if (status === 204) return ok('A paygraph takes callbacks there.');
    return warning(`Callbacks to PUBLIC_URL are answered with ${status} and not with 204.`, mend);
  } catch (error) {
    return warning(`PUBLIC_URL does not answer from here (${wordOf(error)}).`, mend);
  }
}
