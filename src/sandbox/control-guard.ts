import type { FastifyRequest } from 'fastify';
import { SandboxHttpError } from './http-error';

const LOOPBACK_HOST = /^(localhost|[a-z0-9-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Rejects requests that pages of other sites cause in the developer's browser by cross-site requests or DNS rebinding,
 * because the control plane has no password.
 */
export function guardControl(request: FastifyRequest): void {
  const { host = '', origin } = request.headers;
  const isFromBrowser = origin !== undefined || request.headers['sec-fetch-site'] !== undefined;
  if (isFromBrowser && !LOOPBACK_HOST.test(URL.parse(`http://${host}`)?.hostname ?? '')) throw forbidden();
  // Links to the console are allowed; the same-origin policy protects responses to GET.
  if (request.method !== 'GET') rejectCrossSite(request);
}

/** Rejects cross-site requests from browsers. */
export function rejectCrossSite(request: FastifyRequest): void {
  const { host = '', origin } = request.headers;
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw forbidden();
  if (origin !== undefined && URL.parse(origin)?.host !== host.toLowerCase()) throw forbidden();
}

/** Rejects a form without `Origin` or `Sec-Fetch-Site: same-origin`, because any site can make browsers send a form. */
export function guardForm({ headers }: FastifyRequest): void {
  if (headers.origin === undefined && headers['sec-fetch-site'] !== 'same-origin') throw forbidden();
}

const forbidden = (): SandboxHttpError =>
  new SandboxHttpError(403, 'The control plane does not accept requests from other sites');
