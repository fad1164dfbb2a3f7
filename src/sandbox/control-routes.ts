import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isObject, type WireObject } from '../shared/wire-object';
import { isJson, rawBody } from './api';
import { sendConsole } from './console-page';
import type { SandboxControl } from './control';
import { guardControl, guardForm, rejectCrossSite } from './control-guard';
import { FAULT_KINDS, type Fault } from './fault-injector';
import { plainText, receivedValue, uuid } from './field-rules';
import { SandboxHttpError, invalidRequest } from './http-error';
import type { LiveEvents } from './live-events';
import { ObjectReader, Problems } from './object-reader';
import { parseStrictJson } from './strict-json';

const DAY_MS = 86_400_000;

interface ControlRoutesParts {
  control: SandboxControl;
  live: LiveEvents;
  baseUrl(): string;
}

interface RequestAndReply {
  request: FastifyRequest<{ Params: { id: string } }>;
  reply: FastifyReply;
}

/** Carries out a control request. `fields` are those of its body; `id` is the transaction id in its path, if any. */
type Action = (fields: WireObject, id: string) => unknown;

/** Adds the control plane to a scope of its own, because the guard applies to every route of the scope. */
export function addControlRoutes(app: FastifyInstance, { control, live, baseUrl }: ControlRoutesParts): void {
  app.addHook('onRequest', async (request) => guardControl(request, baseUrl()));
  app.get('/', (_request, reply) => sendConsole(reply, control));
  app.get('/events', (request, reply) => sendEvents(live, request, reply));
  app.get('/transactions', ({ query }) => {
    const { limit, before } = readPaging(isObject(query) ? { ...query } : {});
    return { transactions: control.transactions(limit, before) };
  });
  app.get('/counts', () => control.counts());
  app.get('/faults', () => ({ faults: control.faults() }));

  const post = (path: string, action: Action) =>
    app.post<{ Params: { id: string } }>(path, (request, reply) => performAction({ request, reply }, action));
  post('/transactions/:id/settle', (fields, id) => {
    readFields(fields, () => undefined);
    return control.settle(id);
  });
  post('/transactions/:id/decline', (fields, id) => control.decline(id, readDeclineError(fields)));
  post('/transactions/:id/underpay', (fields, id) =>
    control.underpay(
      id,
      readFields(fields, (reader) => reader.optional('received', receivedValue)),
    ),
  );
  post('/clock/advance', (fields) =>
    control.advance(readFields(fields, (reader) => reader.integer('ms', { min: 0, max: 400 * DAY_MS }))),
  );
  post('/faults', (fields) => {
    control.inject(readFault(fields));
    return { faults: control.faults() };
  });
  post('/reset', (fields) => {
    readFields(fields, () => undefined);
    control.reset();
  });
}

/** Streams change events to the console. Rejects other sites, whose pages could otherwise hold connections open. */
function sendEvents(live: LiveEvents, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  rejectCrossSite(request);
  if (!live.hasCapacity) throw new SandboxHttpError(503, 'Too many event streams: close some console pages');
  reply.hijack();
  reply.raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    // Turns off response buffering of nginx.
    'x-accel-buffering': 'no',
  });
  live.addListener(reply.raw);
  return reply;
}

function performAction({ request, reply }: RequestAndReply, action: Action): FastifyReply {
  const { fields, isForm } = readBody(request);
  const result = action(fields, request.params.id);
  return isForm ? reply.redirect('/_sandbox/', 303) : reply.code(200).send(result ?? {});
}

/** Reads the fields of a request body, which is JSON or a form of the console. */
function readBody(request: FastifyRequest): { fields: WireObject; isForm: boolean } {
  const bytes = rawBody(request);
  if (isJson(request)) return { fields: bytes.length === 0 ? {} : parseStrictJson(bytes), isForm: false };
  const type = request.headers['content-type'] ?? '';
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(type)) {
    throw invalidRequest({ 'Content-Type': 'must be application/json' });
  }
  guardForm(request);
  // Browsers also send the empty fields of a form.
  const fields = [...new URLSearchParams(bytes.toString('utf8'))].filter(([, value]) => value !== '');
  return { fields: Object.fromEntries(fields), isForm: true };
}

function readFields<T>(fields: WireObject, read: (reader: ObjectReader) => T): T {
  const problems = new Problems();
  const reader = new ObjectReader(fields, problems);
  const result = read(reader);
  reader.finish();
  problems.throwIfAny();
  return result;
}

const readDeclineError = (fields: WireObject) =>
  readFields(fields, (reader) => {
    const code = reader.optional('code', plainText);
    const message = reader.optional('message', plainText);
    if (code === undefined && message === undefined) return undefined;
    return { code: code ?? 'DECLINED_GENERIC', message: message ?? 'The payment was declined' };
  });

const readPaging = (query: WireObject) =>
  readFields(query, (reader) => ({
    limit: reader.integer('limit', { min: 1, max: 500, defaultValue: 50 }),
    before: reader.optional('before', uuid),
  }));

const readFault = (fields: WireObject): Fault =>
  readFields(fields, (reader) => ({
    operation: reader.oneOf('operation', ['create', 'lookup', 'confirm']) ?? 'create',
    resource: reader.has('resource') ? reader.oneOf('resource', ['payment', 'payout']) : undefined,
    fault: reader.oneOf('fault', FAULT_KINDS) ?? 'delay',
    times: reader.integer('times', { min: 1, max: 10_000, defaultValue: 1 }),
    ms: reader.integer('ms', { min: 0, max: DAY_MS, defaultValue: 1000 }),
    status: reader.integer('status', { min: 400, max: 599, defaultValue: 503 }),
  }));
