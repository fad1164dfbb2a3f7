import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WireObject } from '../shared/wire-object';
import { hasJsonContentType, rawBodyOf } from './api';
import { sendConsole } from './console-page';
import type { ControlPlane } from './control';
import { FAULTS, type Fault } from './faults';
import { decimalRule, uuidRule } from './field-rules';
import { SandboxHttpError, invalidRequestError } from './http-error';
import type { ConsoleRefreshEvents } from './console-refresh-events';
import { GENERIC_DECLINE } from './lifecycle';
import { parseJsonObject, readObject, type ObjectReader } from './object-reader';

const DAY_MS = 86_400_000;
const LOOPBACK_HOST_PATTERN = /^(localhost|[a-z0-9-]+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * Adds the routes of the control plane. `app` must have no other routes, because guardControl() checks the requests to
 * every route of `app`.
 */
export function addControlRoutes(
  app: FastifyInstance,
  controlPlane: ControlPlane,
  refreshEvents: ConsoleRefreshEvents,
): void {
  app.addHook('onRequest', async (request) => guardControl(request));
  app.get('/', (_request, reply) => sendConsole(reply, controlPlane));
  app.get('/events', (request, reply) => streamRefreshEvents(refreshEvents, request, reply));
  app.get<{ Querystring: WireObject }>('/transactions', ({ query }) => {
    const { limit, before } = readObject(query, readPaging);
    return { transactions: controlPlane.transactions(limit, before) };
  });
  app.get('/counts', () => controlPlane.counts());
  app.get('/faults', () => ({ faults: controlPlane.faults() }));

  /**
   * Adds a POST route. `readInput` parses the body. `execute` gets the parsed body and, if the path contains one, the
   * id of the transaction.
   */
  const addPost = <T>(
    urlPath: string,
    readInput: (reader: ObjectReader) => T,
    execute: (input: T, transactionId: string) => unknown,
  ): void => {
    app.post<{ Params: { id: string } }>(urlPath, (request, reply) => {
      const { fields, isForm } = readBody(request);
      const responseBody = execute(readObject(fields, readInput), request.params.id);
      return isForm ? reply.redirect('/_sandbox/', 303) : reply.send(responseBody ?? {});
    });
  };
  addPost('/transactions/:id/settle', readNothing, (_input, id) => controlPlane.settle(id));
  addPost('/transactions/:id/decline', readTransactionFailure, (failure, id) =>
    controlPlane.decline(id, failure),
  );
  addPost('/transactions/:id/underpay', readReceivedAmount, (receivedAmount, id) =>
    controlPlane.underpay(id, receivedAmount),
  );
  addPost('/clock/advance', readDurationMs, (durationMs) => controlPlane.advance(durationMs));
  addPost('/faults', readFault, (fault) => {
    controlPlane.inject(fault);
    return { faults: controlPlane.faults() };
  });
  addPost('/reset', readNothing, () => controlPlane.reset());
}

/**
 * Keeps other sites in the developer's browser from using the control plane. To prevent DNS rebinding, throws a 403
 * error if a browser's request names a host other than loopback. To prevent CSRF, throws a 403 error if a request other
 * than GET is cross-origin.
 */
function guardControl(request: FastifyRequest): void {
  const { host = '', origin } = request.headers;
  const isFromBrowser = origin !== undefined || request.headers['sec-fetch-site'] !== undefined;
  if (isFromBrowser && !LOOPBACK_HOST_PATTERN.test(URL.parse(`http://${host}`)?.hostname ?? ''))
    throw forbiddenError();
  // Allow cross-site GET, so that other sites can link to the console. The same-origin policy protects the responses.
  if (request.method !== 'GET') rejectCrossSite(request);
}

/** Throws a 403 error if Sec-Fetch-Site or Origin shows that a browser sent the request from another origin. */
function rejectCrossSite(request: FastifyRequest): void {
  const { host = '', origin } = request.headers;
  const fetchSite = request.headers['sec-fetch-site'];
  if (fetchSite !== undefined && fetchSite !== 'same-origin' && fetchSite !== 'none') throw forbiddenError();
  if (origin !== undefined && URL.parse(origin)?.host !== host.toLowerCase()) throw forbiddenError();
}

const forbiddenError = (): SandboxHttpError =>
  new SandboxHttpError(
    403,
    'The control plane rejects browser requests from other sites, and to hosts other than loopback',
  );

/**
 * Streams refresh events to a console page. Throws a 403 error for a request from another origin, and a 503 error if
 * too many streams are already open.
 */
function streamRefreshEvents(
  refreshEvents: ConsoleRefreshEvents,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  rejectCrossSite(request);
  if (!refreshEvents.hasCapacity)
    throw new SandboxHttpError(503, 'Too many event streams are open; close some console pages');
  reply.hijack();
  reply.raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    // Turn off response buffering in nginx.
    'x-accel-buffering': 'no',
  });
  refreshEvents.addStream(reply.raw);
  return reply;
}

/**
 * Parses a JSON body, or a form that a page of the same origin sent. Throws a 403 error for a form from anywhere else,
 * and a 400 error for another content type or invalid JSON.
 */
function readBody(request: FastifyRequest): { fields: WireObject; isForm: boolean } {
  const { headers } = request;
  const rawBody = rawBodyOf(request);
  if (hasJsonContentType(request))
    return { fields: rawBody.length === 0 ? {} : parseJsonObject(rawBody), isForm: false };
  const contentType = headers['content-type'] ?? '';
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(contentType)) {
    throw invalidRequestError({ 'Content-Type': 'must be application/json' });
  }
  // An `Origin` here is of this site: guardControl() has rejected all others.
  if (headers.origin === undefined && headers['sec-fetch-site'] !== 'same-origin') throw forbiddenError();
  // Ignore empty fields, because browsers send every field of a form.
  const formFields = [...new URLSearchParams(rawBody.toString('utf8'))].filter(([, value]) => value !== '');
  return { fields: Object.fromEntries(formFields), isForm: true };
}

const readNothing = () => undefined;

const readPaging = (reader: ObjectReader) => ({
  limit: reader.integer('limit', { min: 1, max: 500, defaultValue: 50 }),
  before: reader.optionalString('before', uuidRule),
});

const readReceivedAmount = (reader: ObjectReader) => reader.optionalString('received', decimalRule);

const readDurationMs = (reader: ObjectReader) => reader.integer('ms', { min: 0, max: 400 * DAY_MS });

const readTransactionFailure = (reader: ObjectReader) => ({
  code: reader.optionalString('code') ?? GENERIC_DECLINE.code,
  message: reader.optionalString('message') ?? GENERIC_DECLINE.message,
});

const readFault = (reader: ObjectReader): Fault => ({
  operation: reader.requiredOneOf('operation', ['create', 'lookup', 'confirm']) ?? 'create',
  resource: reader.hasField('resource') ? reader.requiredOneOf('resource', ['payment', 'payout']) : undefined,
  fault: reader.requiredOneOf('fault', FAULTS) ?? 'delay',
  times: reader.integer('times', { min: 1, max: 10_000, defaultValue: 1 }),
  ms: reader.integer('ms', { min: 0, max: DAY_MS, defaultValue: 1000 }),
  status: reader.integer('status', { min: 400, max: 599, defaultValue: 503 }),
});
