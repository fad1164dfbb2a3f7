import type { FastifyRequest } from 'fastify';
import { Refusal } from './refusal';

const LOOPBACK = /^(localhost|[a-z0-9-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * The control plane has no password, so a page of another site that the developer has open must not reach it: neither
 * by a request across sites, nor under a name of its own that it points at this machine (DNS rebinding).
 */
export function guardControl(request: FastifyRequest, ownUrl: string): void {
  const { host = '', origin } = request.headers;
  const fromBrowser = origin !== undefined || request.headers['sec-fetch-site'] !== undefined;
  if (fromBrowser && !isOwnHost(host, ownUrl)) throw forbidden();
  // A link on another site may lead to the console, and no site can read what another's GET answers.
  if (request.method !== 'GET') guardSite(request);
}

/** Refuses what a browser sends for a page of another site. */
export function guardSite(request: FastifyRequest): void {
  const { host = '', origin } = request.headers;
  const site = request.headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw forbidden();
  if (origin !== undefined && URL.parse(origin)?.host !== host.toLowerCase()) throw forbidden();
}

function isOwnHost(host: string, ownUrl: string): boolean {
  const name = URL.parse(`http://${host}`)?.hostname ?? '';
  return LOOPBACK.test(name) || name === new URL(ownUrl).hostname;
}

/** A form can be sent from any site: only a browser's word that it is the console's own lets it in. */
export function guardForm(request: FastifyRequest): void {
  const { origin } = request.headers;
  if (origin === undefined && request.headers['sec-fetch-site'] !== 'same-origin') throw forbidden();
}

function forbidden(): Refusal {
  return new Refusal(403, 'The control plane takes no requests from other sites');
}
