import type { FastifyInstance, FastifyReply } from 'fastify';
import { isObject } from '../../shared/wire-object';
import { badRequest, CREDENTIALS_REQUIRED, RequestError } from '../graphql/http-error';
import { parseGetParams, validateParams } from '../graphql/request-params';
import { SHUTTING_DOWN } from '../server/graceful-shutdown';
import type { Heartbeat } from './heartbeat';
import { SubscriptionError } from './result-stream';
import type { SubscriptionService } from './subscription-service';

interface SseOptions {
  service: SubscriptionService;
  heartbeat: Heartbeat;
}

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  // Turns off buffering in proxies.
  'x-accel-buffering': 'no',
};

/** Server-sent events (graphql-sse, distinct connections mode): one subscription per request, at /graphql/stream. */
export class SseHandler {
  readonly #streams = new Set<FastifyReply['raw']>();
  #closing = false;

  constructor(private readonly options: SseOptions) {}

  /** Adds the route, in a scope that authenticates callers. */
  add(scope: FastifyInstance): void {
    scope.route({
      method: ['GET', 'POST'],
      url: '/graphql/stream',
      handler: async ({ id, method, url, body, headers, caller, ip }, reply) => {
        if (!caller) throw CREDENTIALS_REQUIRED;
        if (this.#closing) throw SHUTTING_DOWN;
        if (!/text\/event-stream|\*\/\*/.test(headers.accept ?? '*/*')) throw NOT_ACCEPTABLE;
        const params: unknown = method === 'GET' ? parseGetParams(url) : body;
        if (!isObject(params)) throw badRequest('The body must be a JSON object with a query.');
        // Here, because prepare() would report the error in the stream.
        validateParams(params);
        const prepared = await this.options.service.prepare(params, { caller, ip, requestId: id });
        reply.hijack();
        const { raw } = reply;
        // The client may have disconnected, or the shutdown may have begun, during the checks.
        if (raw.destroyed || this.#closing) return void raw.destroy();
        const results = 'schema' in prepared ? this.options.service.start(prepared) : failed(prepared);
        raw.writeHead(200, { ...headersOf(reply), ...HEADERS });
        // Otherwise the response would hold the headers in memory as long as the stream lasts.
        raw.flushHeaders();
        // Not awaited, for the same reason.
        this.#send(raw, results).catch(() => raw.destroy());
      },
    });
  }

  get size(): number {
    return this.#streams.size;
  }

  /** Ends every stream without a complete event, so that clients reconnect. */
  close(): void {
    this.#closing = true;
    for (const raw of this.#streams) raw.end();
  }

  async #send(raw: FastifyReply['raw'], results: AsyncGenerator<object, undefined>): Promise<void> {
    this.#streams.add(raw);
    let isAlive = true;
    const stopPinging = this.options.heartbeat.add(() => {
      if (raw.writableEnded) return;
      // The client has not read the previous ping.
      if (!isAlive) return void raw.destroy();
      isAlive = false;
      raw.write(':\n\n', () => {
        isAlive = true;
      });
    });
    // Errors of writes after the client has disconnected.
    raw.on('error', () => undefined);
    raw.once('close', () => {
      stopPinging();
      this.#streams.delete(raw);
      void results.return(undefined);
    });
    // Some browsers treat the stream as open only when something has arrived.
    await writeAndDrain(raw, ':\n\n');
    try {
      for await (const result of results) await writeAndDrain(raw, eventOf('next', result));
    } catch (error) {
      const errors = error instanceof SubscriptionError ? error.errors : [error];
      await writeAndDrain(raw, eventOf('next', { errors }));
    }
    await writeAndDrain(raw, eventOf('complete'));
    raw.end();
  }
}

/** The result of a subscription that could not be started. */
async function* failed(errors: readonly Error[]): AsyncGenerator<object, undefined> {
  yield { errors };
  return undefined;
}

const eventOf = (event: string, data?: object): string =>
  `event: ${event}\ndata: ${data ? JSON.stringify(data) : ''}\n\n`;

/** Resolves when the text was written to the socket or cannot be, so that newer results replace waiting ones. */
const writeAndDrain = (raw: FastifyReply['raw'], text: string): Promise<void> =>
  new Promise((resolve) => {
    if (!raw.destroyed && !raw.writableEnded) raw.write(text, () => resolve());
    else resolve();
  });

/** The headers that Fastify would send. */
const headersOf = (reply: FastifyReply): Record<string, string> =>
  Object.fromEntries(Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)]));

const NOT_ACCEPTABLE = new RequestError({
  status: 406,
  code: 'BAD_REQUEST',
  message: 'The response is text/event-stream only.',
});
