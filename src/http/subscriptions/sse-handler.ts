import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { isObject } from '../../shared/wire-object';
import { badRequestError, UNAUTHENTICATED_PAGE_REQUEST_ERROR, RequestError } from '../graphql/http-error';
import { parseGetParams, validateParams } from '../graphql/request-params';
import { SHUTTING_DOWN_ERROR } from '../server/graceful-shutdown';
import { SubscriptionError, type ResultStream } from './result-stream';
import type { SharedTimer } from './shared-timer';
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
    private readonly subscriptionService: SubscriptionService,
    private readonly heartbeatTimer: SharedTimer,
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
        if (!isObject(params)) throw badRequestError('The body must be a JSON object with a query.');
        // Validate now, for a response with status 400: errors of prepare() are sent in the stream, with status 200.
        validateParams(params);
        const lastEventId = headers['last-event-id'];
        const requestIdentity = { caller, ip, requestId: id, lastEventId: lastEventId?.toString() };
        const preparedOrErrors = await this.subscriptionService.prepare(params, requestIdentity);
        reply.hijack();
        const response = reply.raw;
        // During the checks, the client may have disconnected, or the shutdown may have begun.
        if (response.destroyed || this.#isClosing) return void response.destroy();
        const results =
          'schema' in preparedOrErrors
            ? this.subscriptionService.start(preparedOrErrors)
            : yieldErrors(preparedOrErrors);
        response.writeHead(200, { ...reply.getHeaders(), ...SSE_HEADERS } as OutgoingHttpHeaders);
        // Send the headers in a separate write, to save memory. The response keeps their text as long as the stream
        // lasts: after a separate write as one string, otherwise as a concatenation of many strings.
        response.flushHeaders();
        // Do not await the stream: the handler would keep the request in memory as long as the stream lasts.
        this.#sendResults(response, results).catch(() => response.destroy());
      },
    });
  }

  get openCount(): number {
    return this.#openResponses.size;
  }

  /** Ends every stream without sending the event `complete`, so that clients reconnect. */
  close(): void {
    this.#isClosing = true;
    for (const response of this.#openResponses) response.end();
  }

  async #sendResults(response: FastifyReply['raw'], results: SseResults): Promise<void> {
    this.#openResponses.add(response);
    let isPreviousPingWritten = true;
    const stopPinging = this.heartbeatTimer.addCallback(() => {
      if (response.writableEnded) return;
      // Disconnect a client that does not read: the previous ping is still buffered.
      if (!isPreviousPingWritten) return void response.destroy();
      isPreviousPingWritten = false;
      response.write(':\n\n', () => (isPreviousPingWritten = true));
    });
    // Ignore errors of writes after the client has disconnected.
    response.on('error', () => undefined);
    response.once('close', () => {
      stopPinging();
      this.#openResponses.delete(response);
      void results.return?.();
    });
    // Some browsers treat the stream as open only after the first bytes have arrived.
    await writeAndDrain(response, ':\n\n');
    try {
      for await (const result of results) {
        // When clients reconnect, they send the id of the last event (Last-Event-ID).
        const idLine = results.latestEventId ? `id: ${results.latestEventId}\n` : '';
        await writeAndDrain(response, idLine + formatSseEvent('next', result));
      }
    } catch (error) {
      const errors = error instanceof SubscriptionError ? error.errors : [error];
      await writeAndDrain(response, formatSseEvent('next', { errors }));
    }
    await writeAndDrain(response, formatSseEvent('complete'));
    response.end();
  }
}

type SseResults = AsyncIterableIterator<object> & Partial<Pick<ResultStream, 'latestEventId'>>;

/** Yields the errors of a subscription that could not be started, as its only result. */
async function* yieldErrors(errors: readonly Error[]) {
  yield { errors };
}

const formatSseEvent = (eventName: string, data?: object): string =>
  `event: ${eventName}\ndata: ${data ? JSON.stringify(data) : ''}\n\n`;

/** Writes a text. Resolves when the write has ended or failed; only then is the next result computed (backpressure). */
const writeAndDrain = (response: FastifyReply['raw'], sseText: string): Promise<void> =>
  new Promise((resolve) => {
    if (!response.destroyed && !response.writableEnded) response.write(sseText, () => resolve());
    else resolve();
  });

const NOT_ACCEPTABLE_ERROR = new RequestError(
  406,
  'BAD_REQUEST',
  'Subscriptions are sent as text/event-stream: the Accept header must allow this type.',
);
