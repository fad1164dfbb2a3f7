import type { IncomingHttpHeaders } from 'node:http';
import { isLoopback } from '../../shared/loopback';

/**
 * Whether a Host header names a loopback host. Guards against DNS rebinding where callers are not authenticated: the
 * requests of an attacking page have the host name of the page.
 */
export const isLoopbackHost = (hostHeader: string | undefined): boolean =>
  isLoopback(URL.parse(`http://${hostHeader ?? ''}`)?.hostname ?? '');

/**
 * Whether an Origin header names the same host and port as the Host header of the request. Ignores the scheme, because
 * the Host header has none. Does not guard against DNS rebinding; isLoopbackHost() does.
 */
function isOwnOrigin(originHeader: string, hostHeader: string | undefined): boolean {
  const originUrl = URL.parse(originHeader);
  if (hostHeader === undefined || !originUrl?.host) return false;
  return URL.parse(`${originUrl.protocol}//${hostHeader}`)?.host === originUrl.host;
}

/**
 * Whether a request comes from a page of another origin that is not in `corsOrigins`. Guards requests before which
 * browsers send no CORS preflight: WebSockets and event streams.
 */
export const hasForeignOrigin = (
  { origin, host }: IncomingHttpHeaders,
  corsOrigins: readonly string[],
): boolean => origin !== undefined && !isOwnOrigin(origin, host) && !corsOrigins.includes(origin);
