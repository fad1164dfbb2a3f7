import type { FastifyRequest } from 'fastify';
import { SandboxHttpError } from './http-error';

const LOOPBACK = /^(localhost|[a-z0-9-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Protects the control plane, which has no password, from pages of other sites in the developer's browser: against
 * cross-site requests and DNS rebinding.
 */
export function guardControl(request: FastifyRequest, ownUrl: string): void {
  const { host = '', origin } = request.headers;
  const fromBrowser = origin !== undefined || request.headers['sec-fetch-site'] !== undefined;
  if (fromBrowser && !isOwnHost(host, ownUrl)) throw forbidden();
  // Links to the console are allowed; the same-origin policy protects responses to GET.
  if (request.method !== 'GET') guardSite(request);
}

/** Rejects cross-site requests of browsers. */
export function guardSite(request: FastifyRequest): void {
  const { host = '', origin } = request.headers;
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw forbidden();
  if (origin !== undefined && URL.parse(origin)?.host !== host.toLowerCase()) throw forbidden();
}

/** Any site can send a form: requires the headers by which a browser identifies the console's own. */
export function guardForm({ headers }: FastifyRequest): void {
  if (headers.origin === undefined && headers['sec-fetch-site'] !== 'same-origin') throw forbidden();
}

function isOwnHost(host: string, ownUrl: string): boolean {
  const name = URL.parse(`http://${host}`)?.hostname ?? '';
  return LOOPBACK.test(name) || name === new URL(ownUrl).hostname;
}

const forbidden = (): SandboxHttpError =>
  new SandboxHttpError(403, 'The control plane takes no requests from other sites');
