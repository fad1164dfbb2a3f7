import type { FastifyInstance, FastifyReply } from 'fastify';
import { AccessError } from '../../auth/caller';
import type { AskedOperation } from '../graphql/admission';
import { readParameters } from '../graphql/get-parameters';
import { RequestError, accessRefusal } from '../graphql/http-error';
import { SHUTTING_DOWN } from '../server/graceful-shutdown';
import { validateParams } from './request-params';
import type { Heartbeat } from './heartbeat';
import type { SubscriptionService } from './subscription-service';
import { SubscriptionError } from './result-stream';

interface EventStreamOptions {
  live: SubscriptionService;
  heartbeat: Heartbeat;
}

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  // Tells proxies not to collect what has to be seen at once.
  'x-accel-buffering': 'no',
};

/** Server-sent events (graphql-sse, distinct connections): one subscription per request, at /graphql/stream. */
export class SseHandler {
  readonly #options: EventStreamOptions;
  readonly #replies = new Set<FastifyReply['raw']>();
  #closing = false;

  constructor(options: EventStreamOptions) {
    this.#options = options;
  }

  /** Adds the route. Who is asking must be known before it: request.caller. */
  add(scope: FastifyInstance): void {
    scope.route({
      method: ['GET', 'POST'],
      url: '/graphql/stream',
      handler: async ({ id, method, url, body, headers, caller, ip }, reply) => {
        if (!caller) throw accessRefusal(new AccessError('NO_CREDENTIALS', 'Credentials are required.'));
        if (this.#closing) throw SHUTTING_DOWN;
        if (!/text\/event-stream|\*\/\*/.test(headers.accept ?? '*/*')) throw NOT_ACCEPTABLE;
        const asked = method === 'GET' ? readParameters(url) : (body as AskedOperation | null);
        if (typeof asked !== 'object' || asked === null || Array.isArray(asked)) throw NO_OPERATION;
        validateParams(asked);
        const prepared = await this.#options.live.prepare(asked, { caller, ip, requestId: id });
        reply.hijack();
        const { raw } = reply;
        // The client may have left, or the shutdown have begun, while the operation was checked.
        if (raw.destroyed || this.#closing) return void raw.destroy();
        const events = 'schema' in prepared ? this.#options.live.start(prepared) : refused(prepared);
        raw.writeHead(200, { ...headersOf(reply), ...HEADERS });
        // At once and alone: else the response keeps it in pieces for as long as the stream lasts.
        raw.flushHeaders();
        // Not awaited: the request would be kept for as long as the stream lasts.
        this.#send(raw, events).catch(() => raw.destroy());
      },
    });
  }

  /** So many streams are open. */
  get size(): number {
    return this.#replies.size;
  }

  /** Ends every stream without its last event, so that clients connect again. */
  close(): void {
    this.#closing = true;
    for (const raw of this.#replies) raw.end();
  }

  async #send(raw: FastifyReply['raw'], results: AsyncGenerator<object, undefined>): Promise<void> {
    this.#replies.add(raw);
    let isThere = true;
    const beatNoMore = this.#options.heartbeat.add({
      beat: () => {
        // What was written at the last beat has not left yet: nobody takes it.
        if (raw.writableEnded) return;
        if (!isThere) return void raw.destroy();
        isThere = false;
        raw.write(':\n\n', () => {
          isThere = true;
        });
      },
    });
    // What is written after the client has gone: its own affair.
    raw.on('error', () => undefined);
    raw.once('close', () => {
      beatNoMore();
      this.#replies.delete(raw);
      void results.return(undefined);
    });
    // Some browsers take the stream as open only when something has come.
    await writeAndDrain(raw, ':\n\n');
    try {
      for await (const result of results) await writeAndDrain(raw, eventOf('next', result));
    } catch (error) {
      await writeAndDrain(
        raw,
        eventOf('next', { errors: error instanceof SubscriptionError ? error.errors : [error] }),
      );
    }
    await writeAndDrain(raw, eventOf('complete'));
    raw.end();
  }
}

/** The one result of a subscription that does not begin. */
async function* refused(errors: readonly Error[]): AsyncGenerator<object, undefined> {
  yield { errors };
  return undefined;
}

const eventOf = (event: string, data?: object): string =>
  `event: ${event}\ndata: ${data ? JSON.stringify(data) : ''}\n\n`;

/** Resolves when it has left, or never will: until then the next result waits, and is replaced by newer ones. */
const writeAndDrain = (raw: FastifyReply['raw'], text: string): Promise<void> =>
  new Promise((resolve) => {
    if (!raw.destroyed && !raw.writableEnded) raw.write(text, () => resolve());
    else resolve();
  });

/** The headers that Fastify would have sent. */
const headersOf = (reply: FastifyReply): Record<string, string> =>
  Object.fromEntries(Object.entries(reply.getHeaders()).map(([name, value]) => [name, String(value)]));

const NOT_ACCEPTABLE = new RequestError({
  status: 406,
  code: 'BAD_REQUEST',
  message: 'This address answers with events only: accept text/event-stream.',
});

const NO_OPERATION = new RequestError({
  status: 400,
  code: 'BAD_REQUEST',
  message: 'The body must be a JSON object with a query.',
});
