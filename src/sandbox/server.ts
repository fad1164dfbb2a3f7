import { readFile } from 'node:fs/promises';
import fastify from 'fastify';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { systemClock, type Clock } from '../shared/clock';
import { DEV_JWKS_FILE_PATH, DEV_JWKS_URL_PATH } from '../shared/dev-issuer';
import { errorCode } from '../shared/error-code';
import { noJsonSchemas } from '../shared/no-json-schemas';
import { addApi, ALLOWED_METHODS_BY_URL_PATH } from './api';
import { CallbackSender } from './callbacks';
import { AdvancingClock } from './clock';
import { createControlPlane, type ControlPlane } from './control';
import { addControlRoutes } from './control-routes';
import { FaultInjector } from './faults';
import { addHostedPage } from './hosted-page';
import { SandboxHttpError, invalidRequestError } from './http-error';
import { Lifecycle } from './lifecycle';
import { ConsoleRefreshEvents } from './console-refresh-events';
import type { SandboxLogger } from './logger';
import { SandboxService } from './service';
import type { ApiCredentials } from './signature';
import { TransactionStore } from './store';

const BODY_LIMIT_BYTES = 100 * 1024;
const PATH_NOT_FOUND_BODY = { message: 'The sandbox has no such path' };

export interface SandboxOptions {
  /** Port to listen on; 0 for any free port. */
  port: number;
  /** Whether to use any free port if `port` is already in use; by default false. */
  anyPortIfTaken?: boolean;
  credentials: ApiCredentials;
  /** Whether to serve the control plane at /_sandbox/; by default false. */
  servesControlPlane?: boolean;
  /** Whether to serve the public key of the tokens that `paygraph dev-token` issues; by default false. */
  servesDevJwks?: boolean;
  realClock?: Clock;
  /**
   * Delay in ms from a create or confirm to the final status, if that status does not wait for the payer. By default
   * 1500.
   */
  settleAfterMs?: number;
  /** Maximum number of transactions in memory; by default 100,000. */
  maxTransactions?: number;
  logger?: SandboxLogger;
}

export interface Sandbox {
  /** Base URL, with a slash at the end. */
  url: string;
  /** The control plane. Tests use it directly, even if it is not served at /_sandbox/. */
  controlPlane: ControlPlane;
  close(): Promise<void>;
}

/** Starts a sandbox, listening on 127.0.0.1. Rejects if it cannot listen. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { port, anyPortIfTaken, credentials, logger } = options;
  const { realClock = systemClock, settleAfterMs = 1500, maxTransactions = 100_000 } = options;
  let url = '';
  const clock = new AdvancingClock(realClock);
  const callbackSender = new CallbackSender({ clock, realClock, logger });
  const store = new TransactionStore(maxTransactions);
  const refreshEvents = new ConsoleRefreshEvents(realClock);
  const onChange = () => refreshEvents.notifyChange();
  const faultInjector = new FaultInjector(onChange);
  const lifecycle = new Lifecycle({
    clock,
    store,
    settleAfterMs,
    onChange: (transaction) => {
      onChange();
      callbackSender.notify(transaction);
    },
  });
  const controlPlane = createControlPlane({
    store,
    lifecycle,
    faultInjector,
    clock,
    callbackSender,
    onClockAdvanced: onChange,
  });
  const sandboxService = new SandboxService({ store, lifecycle, faultInjector, clock, baseUrl: () => url });

  const app = createBareServer(logger);
  addApi(app, { credentials, sandboxService, faultInjector, clock, realClock });
  addHostedPage(app, store, lifecycle);
  app.get('/healthz', () => ({ status: 'ok' }));
  if (options.servesDevJwks) addJwks(app);
  if (options.servesControlPlane) {
    app.register(async (scopedApp) => addControlRoutes(scopedApp, controlPlane, refreshEvents), {
      prefix: '/_sandbox',
    });
  }
  const listen = (listenPort: number) => app.listen({ host: '127.0.0.1', port: listenPort });
  const origin = await listen(port).catch((error: unknown) => {
    if (anyPortIfTaken && errorCode(error) === 'EADDRINUSE') return listen(0);
    throw error;
  });
  url = `${origin}/`;
  const close = async () => {
    clock.cancelTimers();
    callbackSender.cancelDeliveries();
    refreshEvents.close();
    await app.close();
  };
  return { url, controlPlane, close };
}

/** Serves the file DEV_JWKS_FILE_PATH, which is read for each request. Responds with 404 if it cannot be read. */
function addJwks(app: FastifyInstance): void {
  app.get(DEV_JWKS_URL_PATH, async (request, reply) => {
    const jwks = await readFile(DEV_JWKS_FILE_PATH, 'utf8').catch(() => undefined);
    return jwks === undefined ? sendRoutingError(request, reply) : reply.type('application/json').send(jwks);
  });
}

/** Creates a server without routes. It reads bodies as bytes and responds to every error with JSON. */
function createBareServer(logger: SandboxLogger | undefined): FastifyInstance {
  const app = fastify({
    schemaController: noJsonSchemas,
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: 30_000,
    forceCloseConnections: true,
    exposeHeadRoutes: false,
    frameworkErrors: (_error, _request, reply: FastifyReply) => reply.code(404).send(PATH_NOT_FOUND_BODY),
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.setErrorHandler((error: FastifyError, _request, reply) => respondError(error, reply, logger));
  app.setNotFoundHandler((request, reply) => sendRoutingError(request, reply));
  app.addHook('onResponse', async (request, reply) => {
    // Log the route pattern instead of the URL, because the URL contains ids of the client.
    const { method, routeOptions } = request;
    const elapsedMs = Math.round(reply.elapsedTime);
    const logFields = { method, route: routeOptions.url, status: reply.statusCode, ms: elapsedMs };
    logger?.info(logFields, 'sandbox request completed');
  });
  return app;
}

function sendRoutingError(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const allowedMethods = ALLOWED_METHODS_BY_URL_PATH.get(request.url.split('?', 1)[0] ?? '');
  if (allowedMethods === undefined) return reply.code(404).send(PATH_NOT_FOUND_BODY);
  return reply
    .code(405)
    .header('allow', allowedMethods)
    .send({ message: 'The HTTP method is not allowed for this path' });
}

function respondError(error: FastifyError, reply: FastifyReply, logger?: SandboxLogger): FastifyReply {
  const httpError = toHttpError(error);
  if (httpError) {
    const { status, message, violatedRuleByField: errors } = httpError;
    return reply.code(status).send({ message, errors });
  }
  // Log only the stack frames, because the message of an unexpected error may contain the client's input.
  const stackFrames = error.stack?.split('\n').filter((line) => /^\s+at /.test(line));
  logger?.error({ error: error.name, frames: stackFrames }, 'unexpected error in the sandbox');
  return reply.code(500).send({ message: 'The sandbox failed with an internal error' });
}

/** Converts an error of the sandbox or of Fastify's body parser to an HTTP error; undefined for other errors. */
function toHttpError(error: FastifyError): SandboxHttpError | undefined {
  if (error instanceof SandboxHttpError) return error;
  if (error.statusCode === 413) return new SandboxHttpError(413, 'The body is too large');
  if (error.statusCode === 415) return invalidRequestError({ 'Content-Type': 'must be application/json' });
  if (error.statusCode === 400) return invalidRequestError({ body: 'cannot be read' });
  return undefined;
}
