import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { isObject } from '../../shared/wire-object';
import { badRequest, UNAUTHENTICATED_PAGE_REQUEST_ERROR, RequestError } from '../graphql/http-error';
import { parseGetParams, validateParams } from '../graphql/request-params';
import { SHUTTING_DOWN_ERROR } from '../server/graceful-shutdown';
import { SubscriptionError, type ResultStream } from './result-stream';
import type { SharedInterval } from './shared-interval';
import type { SubscriptionService } from './subscription-service';

const SSE_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  // Turn off buffering in proxies such as nginx.
  'x-accel-buffering': 'no',
};

/** Serves subscriptions as server-sent events, one per request (graphql-sse, distinct connections mode). */
export class SseHandler {
  readonly #openResponses = new Set<FastifyReply['raw']>();
  #isClosing = false;

  constructor(
    private readonly service: SubscriptionService,
    private readonly heartbeatInterval: SharedInterval,
  ) {}

  /** Adds /graphql/stream. The scope must authenticate callers. */
  addRoute(scope: FastifyInstance): void {
    scope.route({
      method: ['GET', 'POST'],
      url: '/graphql/stream',
      handler: async ({ id, method, url, body, headers, caller, ip }, reply) => {
        if (!caller) throw UNAUTHENTICATED_PAGE_REQUEST_ERROR;
        if (this.#isClosing) throw SHUTTING_DOWN_ERROR;
        if (!/text\/event-stream|\*\/\*/.test(headers.accept ?? '*/*')) throw NOT_ACCEPTABLE_ERROR;
        const params: unknown = method === 'GET' ? parseGetParams(url) : body;
        if (!isObject(params)) throw badRequest('The body must be a JSON object with a query.');
        // Validate now, for a response with status 400: errors of prepare() are sent in the stream, with status 200.
        validateParams(params);
        const lastEventId = headers['last-event-id'];
        const identity = { caller, ip, requestId: id, lastEventId: lastEventId?.toString() };
        const prepared = await this.service.prepare(params, identity);
        reply.hijack();
        const { raw } = reply;
        // During the checks, the client may have disconnected, or the shutdown may have begun.
        if (raw.destroyed || this.#isClosing) return void raw.destroy();
        const results = 'schema' in prepared ? this.service.start(prepared) : yieldErrors(prepared);
        raw.writeHead(200, { ...reply.getHeaders(), ...SSE_HEADERS } as OutgoingHttpHeaders);
        // Send the headers in a separate write, to save memory. The response keeps their text as long as the stream
        // lasts: after a separate write as one string, otherwise as a concatenation of many strings.
        raw.flushHeaders();
        // Do not await the stream: the handler would keep the request in memory as long as the stream lasts.
        this.#sendResults(raw, results).catch(() => raw.destroy());
      },
    });
  }

  get openCount(): number {
    return this.#openResponses.size;
  }

  /** Ends every stream without sending the event `complete`, so that clients reconnect. */
  close(): void {
    this.#isClosing = true;
    for (const raw of this.#openResponses) raw.end();
  }

  async #sendResults(raw: FastifyReply['raw'], results: SseResults): Promise<void> {
    this.#openResponses.add(raw);
    let isAlive = true;
    const stopPinging = this.heartbeatInterval.addCallback(() => {
      if (raw.writableEnded) return;
      // Disconnect a client that does not read: the previous ping is still buffered.
      if (!isAlive) return void raw.destroy();
      isAlive = false;
      raw.write(':\n\n', () => (isAlive = true));
    });
    // Ignore errors of writes after the client has disconnected.
    raw.on('error', () => undefined);
    raw.once('close', () => {
      stopPinging();
      this.#openResponses.delete(raw);
      void results.return?.();
    });
    // Some browsers treat the stream as open only after the first bytes have arrived.
    await writeAndDrain(raw, ':\n\n');
    try {
      for await (const result of results) {
        // When clients reconnect, they send the id of the last event (Last-Event-ID).
        const idLine = results.eventId ? `id: ${results.eventId}\n` : '';
        await writeAndDrain(raw, idLine + formatEvent('next', result));
      }
    } catch (error) {
      const errors = error instanceof SubscriptionError ? error.errors : [error];
      await writeAndDrain(raw, formatEvent('next', { errors }));
    }
    await writeAndDrain(raw, formatEvent('complete'));
    raw.end();
  }
}

type SseResults = AsyncIterableIterator<object> & Partial<Pick<ResultStream, 'eventId'>>;

/** Yields the errors of a subscription that could not be started, as its only result. */
async function* yieldErrors(errors: readonly Error[]) {
  yield { errors };
}

const formatEvent = (event: string, data?: object): string =>
  `event: ${event}\ndata: ${data ? JSON.stringify(data) : ''}\n\n`;

/** Writes a text. Resolves when the write has ended or failed; only then is the next result computed (backpressure). */
const writeAndDrain = (raw: FastifyReply['raw'], text: string): Promise<void> =>
  new Promise((resolve) => {
    if (!raw.destroyed && !raw.writableEnded) raw.write(text, () => resolve());
    else resolve();
  });

const NOT_ACCEPTABLE_ERROR = new RequestError(
  406,
  'BAD_REQUEST',
  'Subscriptions are sent as text/event-stream: the Accept header must allow this type.',
);
