import { lookup } from 'node:dns/promises';
import net from 'node:net';
import tls, { type DetailedPeerCertificate } from 'node:tls';
import { NO_SERVICE, failed, ok, warning, wordOf, type Check, type Finding } from './check';

/** A certificate that ends sooner than this is to be looked after. */
const DAYS_LEFT_WARNING = 21;
const DAYS_LEFT_FAILED = 3;
const CONNECT_MS = 5_000;
const DAY_MS = 24 * 60 * 60 * 1000;

const hostOf = (url: string): string => new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');
const portOf = ({ port, protocol }: URL): number => Number(port || (protocol === 'https:' ? 443 : 80));

/** Whether the name of the service means an address here. */
export const serviceName: Check = {
  name: 'service name',
  run: async ({ config }) => {
    if (config.sandbox) return [NO_SERVICE];
    const host = hostOf(config.service.baseUrl);
    if (net.isIP(host)) return [ok(`${host} is an address.`)];
    try {
      const addresses = await lookup(host, { all: true });
      return [ok(`${host} is ${addresses.map(({ address }) => address).join(', ')}.`)];
    } catch (error) {
      return [
        failed(
          `${host} has no address (${wordOf(error)}).`,
          'Check the host in SERVICE_BASE_URL, and the DNS resolver of this machine (/etc/resolv.conf).',
        ),
      ];
    }
  },
};

/** Whether a connection to the service can be opened; over https whether its certificate is good, and for how long. */
export const serviceConnection: Check = {
  name: 'service connection',
  run: async ({ config, now }) => {
    if (config.sandbox) return [NO_SERVICE];
    const url = new URL(config.service.baseUrl);
    const at = { host: hostOf(url.href), port: portOf(url) };
    const opened = await open(() => net.connect(at), 'connect');
    if (opened !== null)
      return [
        failed(
          `No connection to ${at.host}, port ${at.port} (${opened}).`,
          'Check the port in SERVICE_BASE_URL, that the service is up, and that a firewall lets this machine out.',
        ),
      ];
    const reached = ok(`${at.host}, port ${at.port} takes connections.`);
    return url.protocol === 'https:' ? [reached, await certificate(at, now())] : [reached];
  },
};

/** The system's word for why a connection could not be opened; null when it could. */
function open(
  begin: () => net.Socket,
  event: string,
  look?: (socket: net.Socket) => void,
): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = begin();
    const end = (word: string | null): void => {
      socket.destroy();
      resolve(word);
    };
    socket.setTimeout(CONNECT_MS, () => end('ETIMEDOUT'));
    socket.once('error', (error) => end(wordOf(error)));
    socket.once(event, () => {
      look?.(socket);
      end(null);
    });
  });
}

/** What mends a certificate, by the word that OpenSSL has for it. */
const MENDS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED:
    'The service has to renew its certificate; until then no call can be made. Check this clock, too.',
  CERT_NOT_YET_VALID: 'Check the clock of this machine; else the service has to mend its certificate.',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'SERVICE_BASE_URL has to name the service as its certificate does: no address, no alias, no proxy in between.',
};
const UNTRUSTED =
  'If the service uses a certificate authority of its own, name its certificate in NODE_EXTRA_CA_CERTS; if not, something else answers in its place.';

async function certificate(at: { host: string; port: number }, now: number): Promise<Finding> {
  let peer: DetailedPeerCertificate | undefined;
  const name = net.isIP(at.host) ? {} : { servername: at.host };
  const word = await open(
    () => tls.connect({ ...at, ...name }),
    'secureConnect',
    (socket) => (peer = (socket as tls.TLSSocket).getPeerCertificate(true)),
  );
  if (word !== null)
    return failed(`The certificate of ${at.host} is not accepted (${word}).`, MENDS[word] ?? UNTRUSTED);
  const daysLeft = Math.floor((firstEnd(peer) - now) / DAY_MS);
  const says = `The certificate of ${at.host} is good for ${daysLeft} more days.`;
  const mend = 'Ask the service when it renews it: when it has expired no call can be made.';
  if (daysLeft < DAYS_LEFT_FAILED) return failed(says, mend);
  return daysLeft < DAYS_LEFT_WARNING ? warning(says, mend) : ok(says);
}

/** When the first of a chain of certificates expires, in milliseconds since 1970. */
function firstEnd(peer: DetailedPeerCertificate | undefined): number {
  const ends: number[] = [];
  const seen = new Set<DetailedPeerCertificate>();
  // The last of a chain is its own issuer.
  for (let each = peer; each && !seen.has(each); each = each.issuerCertificate) {
    seen.add(each);
    ends.push(Date.parse(each.valid_to));
  }
  return Math.min(...ends);
}
