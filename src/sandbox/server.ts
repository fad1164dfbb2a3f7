import { readFile } from 'node:fs/promises';
import fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify';
import type { SandboxMethods } from '../schema/methods/sandbox-behaviour';
import { addApi, API_METHODS } from './api';
import { Callbacks } from './callbacks';
import { AdvancingClock, systemClock, type Clock } from './clock';
import { SandboxControl } from './control';
import { addControlRoutes } from './control-routes';
import { sendJson } from './exchange';
import { FaultInjector } from './fault-injector';
import { addHostedPage } from './hosted-page';
import { Lifecycle } from './lifecycle';
import { LiveEvents } from './live-events';
import type { SandboxLogger } from './logger';
import { LATEST_SETTLEMENT_MS } from './final-states';
import { Refusal, invalid } from './refusal';
import { Service } from './service';
import { Store } from './store';
import { microsecondDate } from './transaction';

const BODY_LIMIT_BYTES = 100 * 1024;

export interface SandboxOptions {
  methods: SandboxMethods;
  host: string;
  /** 0: any that is free. */
  port: number;
  apiKey: string;
  secretKey: string;
  /** Where payers' browsers find the sandbox, if not at its own address. Ends with a slash. */
  publicUrl?: string;
  /** Whether /_sandbox/ exists. */
  control?: boolean;
  /** A key set (JWKS) that is served, and the path that it is served at. The file is read at each request. */
  jwks?: { file: string; path: string } | undefined;
  clock?: Clock;
  /** How long a provider takes to make up its mind: at most 5000. */
  settleAfterMs?: number;
  maxTransactions?: number;
  logger?: SandboxLogger;
}

export interface Sandbox {
  /** Ends with a slash. */
  url: string;
  /** The control plane without HTTP, whether or not /_sandbox/ exists. */
  control: SandboxControl;
  close(): Promise<void>;
}

export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  let url = '';
  const parts = assemble(options, () => options.publicUrl ?? url);
  const { app, clock, callbacks, control, live } = parts;
  await app.listen({ host: options.host, port: options.port });
  url = addressOf(app, options.host);
  const close = async () => {
    clock.stop();
    callbacks.stop();
    live.close();
    await app.close();
  };
  return { url, control, close };
}

/** `baseUrl` is asked only once the server listens and knows its port. */
function assemble(options: SandboxOptions, baseUrl: () => string) {
  const { methods, logger, maxTransactions = 100_000, settleAfterMs = 1500 } = options;
  if (!(settleAfterMs >= 0 && settleAfterMs <= LATEST_SETTLEMENT_MS)) {
    throw new RangeError(`settleAfterMs must be from 0 to ${LATEST_SETTLEMENT_MS}`);
  }
  const realTime = options.clock ?? systemClock;
  const clock = new AdvancingClock(realTime);
  const callbacks = new Callbacks({ clock, realTime, logger });
  const store = new Store(maxTransactions);
  const live = new LiveEvents(realTime);
  const changed = () => live.changed();
  const traffic = new FaultInjector(changed);
  const lifecycle = new Lifecycle({
    clock,
    store,
    settleAfterMs,
    changed: (transaction) => {
      changed();
      callbacks.notify(transaction, microsecondDate(clock.now(), 0));
    },
  });
  const control = new SandboxControl({ store, lifecycle, traffic, clock, callbacks, changed });
  const service = new Service({ methods, store, lifecycle, traffic, clock, baseUrl });

  const app = bareServer(logger);
  addApi(app, { keys: options, service, traffic, clock, realTime });
  addHostedPage(app, { store, lifecycle });
  app.get('/healthz', () => ({ status: 'ok' }));
  if (options.jwks) addJwks(app, options.jwks);
  if (options.control) {
    const routes = async (scope: FastifyInstance) => addControlRoutes(scope, { control, live, baseUrl });
    app.register(routes, { prefix: '/_sandbox' });
  }
  return { app, clock, callbacks, control, live };
}

/** Serves a key set; 404 while the file is not there. */
function addJwks(app: FastifyInstance, { file, path }: { file: string; path: string }): void {
  app.get(path, async (request, reply) => {
    const text = await readFile(file, 'utf8').catch(() => undefined);
    return text === undefined ? answerUnknown(request, reply) : reply.type('application/json').send(text);
  });
}

/** A server without routes, which reads bodies as bytes and answers every fault in JSON. */
function bareServer(logger: SandboxLogger | undefined): FastifyInstance {
  const app = fastify({
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: 30_000,
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    frameworkErrors: (_error, _request, reply: FastifyReply) => {
      sendJson(reply, 404, { message: 'There is nothing at this address' });
      return reply;
    },
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.setErrorHandler((error: FastifyError, _request, reply) => answerError(error, { reply, logger }));
  app.setNotFoundHandler((request, reply) => answerUnknown(request, reply));
  app.addHook('onResponse', async (request, reply) => {
    // The route's pattern, not the URL: that one holds the client's ids.
    const { method, routeOptions } = request;
    const facts = {
      method,
      route: routeOptions.url,
      status: reply.statusCode,
      ms: Math.round(reply.elapsedTime),
    };
    logger?.info(facts, 'sandbox request');
  });
  return app;
}

function answerUnknown(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const allow = API_METHODS.get(request.url.split('?', 1)[0] ?? '');
  if (allow) {
    sendJson(reply.header('allow', allow), 405, { message: 'The method is not allowed here' });
  } else {
    sendJson(reply, 404, { message: 'There is nothing at this address' });
  }
  return reply;
}

interface Failed {
  reply: FastifyReply;
  logger: SandboxLogger | undefined;
}

function answerError(error: FastifyError, { reply, logger }: Failed): void {
  const refusal = asRefusal(error);
  // The message of a bug may quote what the client sent; its frames cannot.
  const frames = error.stack?.split('\n').filter((line) => /^\s+at /.test(line));
  if (!refusal) logger?.error({ error: error.name, frames }, 'sandbox bug');
  sendJson(reply, refusal?.status ?? 500, refusal?.body() ?? { message: 'An error of the sandbox itself' });
}

/** Fastify's own refusals of a body, in the service's words. */
function asRefusal(error: FastifyError): Refusal | undefined {
  if (error instanceof Refusal) return error;
  if (error.statusCode === 413) return new Refusal(413, 'The body is too large');
  if (error.statusCode === 415) return invalid({ 'Content-Type': 'must be application/json' });
  if (error.statusCode === 400) return invalid({ body: 'cannot be read' });
  return undefined;
}

function addressOf(app: FastifyInstance, host: string): string {
  const address = app.server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}/`;
}
