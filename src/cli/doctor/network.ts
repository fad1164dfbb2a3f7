import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';
import { withTimeout } from '../../shared/timeout';
import { errorOrCauseCode } from '../../shared/error-code';
import { SANDBOX_SKIP_FINDING, findingOf, type CheckContext, type Finding } from './check';

const NETWORK_TIMEOUT_MS = 5_000;
const DAY_MS = 24 * 60 * 60 * 1000;
const CERTIFICATE_WARN_BELOW_DAYS = 21;
const CERTIFICATE_FAIL_BELOW_DAYS = 3;

/** Returns the host of a URL, without the brackets of an IPv6 address. */
const hostOf = (url: string): string => new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');

/** Checks the connection to the payment service and, over https, the validity and expiry of its certificate. */
export async function checkServiceConnection({ config, now }: CheckContext): Promise<Finding[]> {
  if (config.sandbox) return [SANDBOX_SKIP_FINDING];
  const { baseUrl } = config.service;
  const host = hostOf(baseUrl);
  const { port: givenPort, protocol } = new URL(baseUrl);
  const isTls = protocol === 'https:';
  const port = Number(givenPort || (isTls ? 443 : 80));
  const endpoint = `${host}, port ${port}`;
  const servername = net.isIP(host) ? '' : host;
  const socket = isTls ? tls.connect({ host, port, servername }) : net.connect({ host, port });
  try {
    await withTimeout(NETWORK_TIMEOUT_MS, once(socket, isTls ? 'secureConnect' : 'connect'));
    const connectionFinding = findingOf.ok(`${endpoint} accepts connections.`);
    if (!(socket instanceof tls.TLSSocket)) return [connectionFinding];
    const certificateRemainingMs = Date.parse(socket.getPeerCertificate().valid_to) - now();
    return [connectionFinding, checkCertificateExpiry(host, Math.floor(certificateRemainingMs / DAY_MS))];
  } catch (error) {
    const errorCode = errorOrCauseCode(error);
    const isTlsError = /^ERR_|CERT|VERIFY|SIGNATURE/.test(errorCode);
    const tlsErrorMessage = `SERVICE_BASE_URL: no TLS connection to ${endpoint}: its certificate or protocol is not accepted (${errorCode}).`;
    if (isTlsError) return [findingOf.failed('certificate_invalid', tlsErrorMessage)];
    const message = `SERVICE_BASE_URL: no connection to ${endpoint} (${errorCode}).`;
    return [findingOf.failed('service_unreachable', message)];
  } finally {
    socket.destroy();
  }
}

function checkCertificateExpiry(host: string, remainingDays: number): Finding {
  const message = `The certificate of ${host} expires in ${remainingDays} days.`;
  if (remainingDays >= CERTIFICATE_WARN_BELOW_DAYS) return findingOf.ok(message);
  const createFinding = remainingDays < CERTIFICATE_FAIL_BELOW_DAYS ? findingOf.failed : findingOf.warning;
  return createFinding('certificate_expires', message);
}

/**
 * Checks that PORT is free or used by a running paygraph. Also checks METRICS_PORT, if it is set, and SANDBOX_PORT, if
 * the embedded sandbox may not use another port instead.
 */
export async function checkPorts({ config }: CheckContext): Promise<Finding[]> {
  const { host, port, metricsPort, sandbox } = config;
  const findings = [await checkPort('PORT', host, port)];
  if (metricsPort !== null) findings.push(await checkPort('METRICS_PORT', host, metricsPort));
  if (sandbox && !sandbox.anyPortIfTaken)
    findings.push(await checkPort('SANDBOX_PORT', '127.0.0.1', sandbox.port));
  return findings;
}

async function checkPort(settingName: string, listenHost: string, port: number): Promise<Finding> {
  if (port === 0) return findingOf.skipped(`${settingName} is 0: the operating system chooses a free port.`);
  const listenErrorCode = await findListenErrorCode(listenHost, port);
  if (listenErrorCode === null) return findingOf.ok(`Port ${port} is free.`);
  const notAllowedMessage = `${settingName}: port ${port} of ${listenHost} cannot be used (${listenErrorCode}).`;
  if (listenErrorCode !== 'EADDRINUSE') return findingOf.failed('port_not_allowed', notAllowedMessage);
  if (await isPortUsedByPaygraph(listenHost, port))
    return findingOf.ok(`Port ${port} is in use by a running paygraph.`);
  return findingOf.failed('port_in_use', `${settingName}: another program uses port ${port}.`);
}

/** Listens on a port for a moment. Returns null on success, otherwise an error code such as EADDRINUSE. */
async function findListenErrorCode(listenHost: string, port: number): Promise<string | null> {
  await using server = net.createServer((socket) => socket.destroy());
  server.listen({ host: listenHost, port, exclusive: true });
  return await once(server, 'listening').then(() => null, errorOrCauseCode);
}

/** Whether a port is in use by a gateway or a sandbox. Both respond to /healthz with {"status":"ok"}. */
async function isPortUsedByPaygraph(listenHost: string, port: number): Promise<boolean> {
  const isWildcard = ['0.0.0.0', '::'].includes(listenHost);
  const urlHost = isWildcard ? '127.0.0.1' : net.isIPv6(listenHost) ? `[${listenHost}]` : listenHost;
  try {
    const signal = AbortSignal.timeout(NETWORK_TIMEOUT_MS);
    const response = await fetch(`http://${urlHost}:${port}/healthz`, { signal });
    return (await response.text()) === '{"status":"ok"}';
  } catch {
    return false;
  }
}

/** IP addresses that cannot be reached over the internet. */
const PRIVATE_IP_LIST = new net.BlockList();
const PRIVATE_SUBNETS_TEXT =
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.168.0.0/16 ::/127 fc00::/7 fe80::/10';
for (const subnet of PRIVATE_SUBNETS_TEXT.split(' ')) {
  const [network = '', prefix] = subnet.split('/');
  PRIVATE_IP_LIST.addSubnet(network, Number(prefix), net.isIPv6(network) ? 'ipv6' : 'ipv4');
}

/** Checks that the host of PUBLIC_URL has a public address, and that a gateway accepts callbacks at PUBLIC_URL. */
export async function checkPublicUrl({ config: { publicUrl } }: CheckContext): Promise<Finding[]> {
  if (publicUrl === null)
    return [
      findingOf.skipped(
        'PUBLIC_URL is not set: the gateway requests no callbacks and finds changes by polling.',
      ),
    ];
  const host = hostOf(publicUrl);
  try {
    const addresses = (await lookup(host, { all: true })).map(({ address }) => address);
    const areAllPrivate = addresses.every((ip) =>
      PRIVATE_IP_LIST.check(ip, net.isIPv6(ip) ? 'ipv6' : 'ipv4'),
    );
    const addressFinding = areAllPrivate
      ? findingOf.warning(
          'private_address',
          `PUBLIC_URL: ${host} has only private addresses: ${addresses.join(', ')}.`,
        )
      : findingOf.ok(`PUBLIC_URL: ${host} has a public address.`);
    return [addressFinding, await checkCallbackUrl(publicUrl)];
  } catch (error) {
    const message = `PUBLIC_URL: the address of ${host} cannot be resolved (${errorOrCauseCode(error)}).`;
    return [findingOf.failed('host_not_found', message)];
  }
}

async function checkCallbackUrl(publicUrl: string): Promise<Finding> {
  let message: string;
  try {
    const signal = AbortSignal.timeout(NETWORK_TIMEOUT_MS);
    const { status } = await fetch(`${publicUrl}/callbacks/doctor`, { signal, redirect: 'manual' });
    if (status === 204) return findingOf.ok('A running gateway accepts callbacks at PUBLIC_URL.');
    message = `A callback to PUBLIC_URL got the status ${status} instead of 204.`;
  } catch (error) {
    message = `PUBLIC_URL does not respond to a callback (${errorOrCauseCode(error)}).`;
  }
  return findingOf.warning('no_callbacks', message);
}
