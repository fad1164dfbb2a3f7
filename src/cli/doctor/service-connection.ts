import { once } from 'node:events';
import net from 'node:net';
import tls from 'node:tls';
import { withTimeout } from '../../shared/timeout';
import { causeCode } from '../context';
import { NO_SERVICE, failed, ok, warning, type CheckContext, type Finding } from './check';

const CONNECT_TIMEOUT_MS = 5_000;
const DAY_MS = 24 * 60 * 60 * 1000;
/** Days until the certificate expires. */
const WARNING_DAYS = 21;
const FAILED_DAYS = 3;

/** Checks that the payment service accepts connections and, over https, that its certificate is valid for some time. */
export async function checkServiceConnection({ config, now }: CheckContext): Promise<Finding[]> {
  if (config.sandbox) return [NO_SERVICE];
  const { hostname, port, protocol } = new URL(config.service.baseUrl);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const isTls = protocol === 'https:';
  const target = { host, port: Number(port || (isTls ? 443 : 80)) };
  const at = `${host}, port ${target.port}`;
  try {
    const expiresAt = await (isTls ? certificateExpiry(target) : connect(target));
    const accepted = ok(`${at} accepts connections.`);
    return expiresAt === null ? [accepted] : [accepted, checkExpiry(host, expiresAt - now())];
  } catch (error) {
    const code = causeCode(error);
    const isTlsError = /^ERR_|CERT|VERIFY|SIGNATURE/.test(code);
    return isTlsError
      ? [failed('certificate_invalid', `The certificate of ${at} is not accepted (${code}).`)]
      : [failed('service_unreachable', `No connection to ${at} (${code}).`)];
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

/** When the certificate expires, in ms since 1970. */
async function certificateExpiry(target: Target): Promise<number> {
  const socket = tls.connect({ ...target, ...(net.isIP(target.host) ? {} : { servername: target.host }) });
  try {
    await withTimeout(CONNECT_TIMEOUT_MS, once(socket, 'secureConnect'));
    return Date.parse(socket.getPeerCertificate().valid_to);
  } finally {
    socket.destroy();
  }
}

function checkExpiry(host: string, leftMs: number): Finding {
  const days = Math.floor(leftMs / DAY_MS);
  const message = `The certificate of ${host} expires in ${days} days.`;
  if (days >= WARNING_DAYS) return ok(message);
  const report = days < FAILED_DAYS ? failed : warning;
  return report('certificate_expires', message);
}
