import type { FastifyReply, FastifyRequest } from 'fastify';
import { QuotaLimiter } from '../limits/quota-limiter';
import { MAX_REQUEST_BODY_BYTES } from './app';

/** Maximum size of the bodies of all requests that are being received or executed. */
const MAX_BODY_BYTES = 128 * 1024 * 1024;
/** Maximum size of the bodies of all requests of one caller that are being received or executed. */
const MAX_BODY_BYTES_PER_CALLER = 32 * 1024 * 1024;

/** Limits the memory of request bodies, per caller and in total. Counts a body before it arrives. */
export class BodyQuota {
  readonly #quota: QuotaLimiter;

  /** @param onRejected called for each request that is rejected because of a limit */
  constructor(onRejected: () => void) {
    this.#quota = new QuotaLimiter({
      maxTotal: MAX_BODY_BYTES,
      maxPerCaller: MAX_BODY_BYTES_PER_CALLER,
      unit: 'bytes of requests in flight',
      onRejected,
    });
  }

  /** Counts a request's body until the response closes. Throws a RequestError (RATE_LIMITED) if a limit is reached. */
  acquire({ headers }: FastifyRequest, { raw }: FastifyReply, callerId: string): void {
    // The client may have disconnected during the authentication.
    if (raw.destroyed) return;
    // Without a length, the body may have the maximum size. Fastify rejects a greater length.
    const length =
      headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : Infinity;
    raw.once('close', this.#quota.acquire(callerId, Math.min(length, MAX_REQUEST_BODY_BYTES)));
  }
}
