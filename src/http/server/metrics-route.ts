import { hash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isLoopback } from '../../shared/loopback';
import { isLoopbackHost } from './origin-check';

interface MetricsRouteOptions {
  page(): Promise<{ contentType: string; text: string }>;
  /** The bearer token; null: only requests from this machine are allowed. */
  token: string | null;
}

const FORBIDDEN_HERE =
  'Metrics are available on this machine only, and not through a proxy. Set METRICS_TOKEN to read them from elsewhere.\n';
const FORBIDDEN = 'Metrics require Authorization: Bearer <METRICS_TOKEN>.\n';

/** Adds /metrics, without a rate limit. */
export function addMetrics(app: FastifyInstance, { page, token }: MetricsRouteOptions): void {
  const expected = token === null ? null : digestOf(`Bearer ${token}`);
  app.get('/metrics', async (request, reply) => {
    const mayRead = expected ? hasToken(expected, request) : isLocal(request);
    if (!mayRead)
      return reply
        .code(403)
        .type('text/plain; charset=utf-8')
        .send(expected ? FORBIDDEN : FORBIDDEN_HERE);
    const { contentType, text } = await page();
    return reply.type(contentType).send(text);
  });
}

const digestOf = (text: string): Buffer => hash('sha256', text, 'buffer');

/** Compares digests in constant time. */
const hasToken = (expected: Buffer, { headers }: FastifyRequest): boolean =>
  timingSafeEqual(expected, digestOf(headers.authorization ?? ''));

/** Headers that proxies add. */
const FORWARDING =
  /^(forwarded|via|x-forwarded.*|x-real-ip|x-client-ip|x-cluster-client-ip|x-original-.*|x-envoy-.*|x-azure-.*|true-client-ip|proxy-client-ip|cf-.*|cdn-loop|fastly-client-ip)$/;

/** Whether a request looks like one of Prometheus or curl. Proxies without such headers use HTTP/1.0 or unusual URLs. */
const isDirect = ({
  httpVersion,
  url = '',
  headersDistinct: { host = [] },
}: FastifyRequest['raw']): boolean =>
  httpVersion !== '1.0' && url.startsWith('/') && host.length === 1 && !/[@/?#\\]/.test(host[0] ?? '');

/** Whether a request comes from this machine: by its socket, as request.ip may come from a proxy, and to a loopback host. */
function isLocal({ raw, headers }: FastifyRequest): boolean {
  const from = raw.socket.remoteAddress?.replace(/^::ffff:/i, '') ?? '';
  if (!isLoopback(from) || !isLoopbackHost(headers.host) || !isDirect(raw)) return false;
  return !Object.keys(headers).some((name) => FORWARDING.test(name));
}
