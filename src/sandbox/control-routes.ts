import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WireObject } from '../schema/methods/sandbox-behaviour';
import { sendConsole } from './console-page';
import type { SandboxControl } from './control';
import { guardControl } from './control-guard';
import {
  controlBody,
  readAdvance,
  readDecline,
  readFault,
  readNothing,
  readPaging,
  readReceived,
} from './control-requests';
import { isObject } from './wire-object';

export interface ControlRoutes {
  control: SandboxControl;
  baseUrl(): string;
}

interface ControlParams {
  id: string;
}

type Act = (fields: WireObject, id: string) => unknown;

/** To be registered under its own prefix, so that the guard covers these routes and no others. */
export function addControlRoutes(app: FastifyInstance, { control, baseUrl }: ControlRoutes): void {
  app.addHook('onRequest', async (request) => guardControl(request, baseUrl()));
  app.get('/', (request, reply) => sendConsole(reply, { control, query: queryOf(request) }));
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
