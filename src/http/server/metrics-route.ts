import { hash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isLoopback } from '../../shared/loopback';
import { isLoopbackHost } from './origin-check';

const METRICS_LOCAL_ONLY_MESSAGE =
  'METRICS_TOKEN is not set, so metrics are served only to this machine and not through a proxy. Set METRICS_TOKEN to read them from elsewhere.\n';
const METRICS_TOKEN_REQUIRED_MESSAGE = 'Metrics require the header Authorization: Bearer <METRICS_TOKEN>.\n';

/** Adds /metrics. Requests need the bearer token. If `token` is null, they must come directly from this machine. */
export function addMetricsRoute(
  app: FastifyInstance,
  { render, token }: { render(): Promise<{ contentType: string; text: string }>; token: string | null },
): void {
  const expectedDigest = token === null ? null : sha256(`Bearer ${token}`);
  app.get('/metrics', async (request, reply) => {
    const mayRead = expectedDigest ? hasToken(expectedDigest, request) : isDirectLocalRequest(request);
    const refusalMessage = expectedDigest ? METRICS_TOKEN_REQUIRED_MESSAGE : METRICS_LOCAL_ONLY_MESSAGE;
    if (!mayRead) return reply.code(403).type('text/plain; charset=utf-8').send(refusalMessage);
    const { contentType, text } = await render();
    return reply.type(contentType).send(text);
  });
}

const sha256 = (text: string): Buffer => hash('sha256', text, 'buffer');

const hasToken = (expectedDigest: Buffer, { headers }: FastifyRequest): boolean =>
  timingSafeEqual(expectedDigest, sha256(headers.authorization ?? ''));

const PROXY_HEADER_PATTERN =
  /^(forwarded|via|x-forwarded.*|x-real-ip|x-client-ip|x-cluster-client-ip|x-original-.*|x-envoy-.*|x-azure-.*|true-client-ip|proxy-client-ip|cf-.*|cdn-loop|fastly-client-ip)$/;

function isDirectLocalRequest({ raw, headers }: FastifyRequest): boolean {
  const remoteAddress = raw.socket.remoteAddress?.replace(/^::ffff:/i, '') ?? '';
  const [hostHeader = '', ...otherHosts] = raw.headersDistinct['host'] ?? [];
  if (!isLoopback(remoteAddress) || !isLoopbackHost(hostHeader) || otherHosts.length > 0) return false;
  // Detect proxies that add no header, but use HTTP/1.0 or unusual URLs.
  if (raw.httpVersion === '1.0' || !raw.url?.startsWith('/') || /[@/?#\\]/.test(hostHeader)) return false;
  return !Object.keys(headers).some((headerName) => PROXY_HEADER_PATTERN.test(headerName));
}
