import { isLoopback } from '../../shared/loopback';

/** Whether a Host header names a loopback host. A page that attacks by DNS rebinding sends another host name. */
export const isLoopbackHost = (host: string | undefined): boolean =>
  isLoopback(URL.parse(`http://${host ?? ''}`)?.hostname ?? '');

/** Whether an Origin header names the host and port in the Host header of the request. */
export function isOwnOrigin(origin: string, host: string | undefined): boolean {
  const originUrl = URL.parse(origin);
  if (host === undefined || !originUrl?.host) return false;
  return URL.parse(`${originUrl.protocol}//${host}`)?.host === originUrl.host;
}
