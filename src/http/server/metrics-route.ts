import { hash, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isLoopback } from '../../shared/loopback';
import { isLoopbackHost } from './origin-check';

interface MetricsRouteOptions {
  /** Makes the page. */
  page(): Promise<{ contentType: string; text: string }>;
  /** What a reader has to show; null: whoever is on this machine may read. */
  token: string | null;
}

const FORBIDDEN_HERE =
  'Metrics are shown on this machine only, and not through a proxy; set METRICS_TOKEN to read them from elsewhere.\n';
const FORBIDDEN = 'Metrics are shown to who sends METRICS_TOKEN: Authorization: Bearer <token>.\n';

/** Adds /metrics. It has no rate limit; pages that are asked for at the same time are one page. */
export function addMetrics(app: FastifyInstance, { page, token }: MetricsRouteOptions): void {
  const expected = token === null ? null : digestOf(`Bearer ${token}`);
  app.get('/metrics', async (request, reply) => {
    const mayRead = expected ? isShown(expected, request) : isLocal(request);
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

/** Digests are compared, so that it takes equally long whatever is shown. */
const isShown = (expected: Buffer, { headers }: FastifyRequest): boolean =>
  timingSafeEqual(expected, digestOf(headers.authorization ?? ''));

/** What proxies add to what they pass on. */
const FORWARDING =
  /^(forwarded|via|x-forwarded.*|x-real-ip|x-client-ip|x-cluster-client-ip|x-original-.*|x-envoy-.*|x-azure-.*|true-client-ip|proxy-client-ip|cf-.*|cdn-loop|fastly-client-ip)$/;

/** As Prometheus and curl ask: proxies that add no header still speak HTTP/1.0, or leave something else to be seen. */
const isPlain = ({ httpVersion, url = '', headersDistinct: { host = [] } }: FastifyRequest['raw']): boolean =>
  httpVersion !== '1.0' && url.startsWith('/') && host.length === 1 && !/[@/?#\\]/.test(host[0] ?? '');

/**
 * Whether somebody on this machine asks for himself. Not request.ip, which a proxy may have said; and not a page that has
 * reached this machine under another name.
 */
function isLocal({ raw, headers }: FastifyRequest): boolean {
  const from = raw.socket.remoteAddress?.replace(/^::ffff:/i, '') ?? '';
  if (!isLoopback(from) || !isLoopbackHost(headers.host) || !isPlain(raw)) return false;
  return !Object.keys(headers).some((name) => FORWARDING.test(name));
}
