import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WireObject } from '../schema/methods/sandbox-behaviour';
import { sendConsole } from './console-page';
import type { SandboxControl } from './control';
import { guardControl, guardSite } from './control-guard';
import {
  controlBody,
  readAdvance,
  readDecline,
  readFault,
  readNothing,
  readPaging,
  readReceived,
} from './control-requests';
import type { LiveEvents } from './live-events';
import { Refusal } from './refusal';
import { isObject } from './wire-object';

export interface ControlRoutes {
  control: SandboxControl;
  live: LiveEvents;
  baseUrl(): string;
}

interface ControlParams {
  id: string;
}

type Act = (fields: WireObject, id: string) => unknown;

/** To be registered under its own prefix, so that the guard covers these routes and no others. */
export function addControlRoutes(app: FastifyInstance, { control, live, baseUrl }: ControlRoutes): void {
  app.addHook('onRequest', async (request) => guardControl(request, baseUrl()));
  app.get('/', (_request, reply) => sendConsole(reply, control));
  app.get('/events', (request, reply) => sendEvents(live, { request, reply }));
  app.get('/transactions', (request) => {
    const { limit, before } = readPaging(queryOf(request));
    return { transactions: control.transactions(limit, before) };
  });
  app.get('/counts', () => control.counts());
  app.get('/faults', () => ({ faults: control.faults() }));

  const post = (path: string, act: Act) =>
    app.post<{ Params: ControlParams }>(path, (request, reply) =>
      perform({ request, reply, id: request.params.id }, act),
    );
  post('/transactions/:id/settle', (fields, id) => {
    readNothing(fields);
    return control.settle(id);
  });
  post('/transactions/:id/decline', (fields, id) => control.decline(id, readDecline(fields)));
  post('/transactions/:id/underpay', (fields, id) => control.underpay(id, readReceived(fields)));
  post('/clock/advance', (fields) => control.advance(readAdvance(fields)));
  post('/faults', (fields) => {
    control.inject(readFault(fields));
    return { faults: control.faults() };
  });
  post('/reset', (fields) => {
    readNothing(fields);
    control.reset();
  });
}

/** Unlike an answer, it would stay open for the page of another site that asked for it and cannot read it. */
function sendEvents(live: LiveEvents, { request, reply }: Omit<Call, 'id'>): FastifyReply {
  guardSite(request);
  if (!live.hasRoom) throw new Refusal(503, 'Too many listen already');
  reply.hijack();
  reply.raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    // Proxies that gather an answer before they pass it on would gather for ever.
    'x-accel-buffering': 'no',
  });
  live.listen(reply.raw);
  return reply;
}

function queryOf(request: FastifyRequest): WireObject {
  return isObject(request.query) ? { ...request.query } : {};
}

interface Call {
  request: FastifyRequest;
  reply: FastifyReply;
  id: string;
}

function perform({ request, reply, id }: Call, act: Act): FastifyReply {
  const { fields, form } = controlBody(request);
  const result = act(fields, id);
  return form ? reply.redirect('/_sandbox/', 303) : reply.code(200).send(result ?? {});
}
