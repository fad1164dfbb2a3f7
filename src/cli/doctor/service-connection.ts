import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';
import { withTimeout } from '../../shared/timeout';
import { causeCode } from '../context';
import { SKIPPED_WITHOUT_SERVICE, failed, ok, warning, type CheckContext, type Finding } from './check';

const CONNECT_TIMEOUT_MS = 5_000;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Numbers of days until the certificate expires. */
const WARN_BELOW_DAYS = 21;
const FAIL_BELOW_DAYS = 3;

/** Checks that the payment service accepts connections and, over https, that its certificate is valid for a while. */
export async function checkServiceConnection({ config, now }: CheckContext): Promise<Finding[]> {
  if (config.sandbox) return [SKIPPED_WITHOUT_SERVICE];
  const { hostname, port, protocol } = new URL(config.service.baseUrl);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const isTls = protocol === 'https:';
  const target = { host, port: Number(port || (isTls ? 443 : 80)) };
  const at = `${host}, port ${target.port}`;
  try {
    const expiresAt = await (isTls ? certificateExpiry(target) : connect(target));
    const accepted = ok(`${at} accepts connections.`);
    return expiresAt === null ? [accepted] : [accepted, checkCertificateExpiry(host, expiresAt - now())];
  } catch (error) {
    const code = causeCode(error);
    const isTlsError = /^ERR_|CERT|VERIFY|SIGNATURE/.test(code);
    return isTlsError
      ? [failed('certificate_invalid', `SERVICE_BASE_URL: the certificate of ${at} is rejected (${code}).`)]
      : [failed('service_unreachable', `SERVICE_BASE_URL: no connection to ${at} (${code}).`)];
  }
}

interface Target {
  host: string;
  port: number;
}

async function connect(target: Target): Promise<null> {
  const socket = net.connect(target);
  try {
    await withTimeout(CONNECT_TIMEOUT_MS, once(socket, 'connect'));
    return null;
  } finally {
    socket.destroy();
  }
}

/** Connects with TLS. Resolves with the time at which the certificate of the server expires, in ms since 1970. */
async function certificateExpiry(target: Target): Promise<number> {
  const socket = tls.connect({ ...target, ...(net.isIP(target.host) ? {} : { servername: target.host }) });
  try {
    await withTimeout(CONNECT_TIMEOUT_MS, once(socket, 'secureConnect'));
    return Date.parse(socket.getPeerCertificate().valid_to);
  } finally {
    socket.destroy();
  }
}

function checkCertificateExpiry(host: string, remainingMs: number): Finding {
  const days = Math.floor(remainingMs / DAY_MS);
  const message = `The certificate of ${host} expires in ${days} days.`;
  if (days >= WARN_BELOW_DAYS) return ok(message);
  const report = days < FAIL_BELOW_DAYS ? failed : warning;
  return report('certificate_expires', message);
}
