import type { FastifyReply } from 'fastify';
import type { Clock } from '../shared/clock';
import type { WireObject } from '../shared/wire-object';
import { RESPONSE_FAULTS, type Fault } from './fault-injector';
import type { ResponseFault } from './final-states';

/** A response, and the fault in it that the amount of the transaction selects. */
export interface SandboxResponse {
  status: number;
  body: WireObject;
  responseFault?: ResponseFault;
}

interface FaultContext {
  injected: Fault | undefined;
  clock: Clock;
}

/** Runs `work` and sends its response. An injected fault takes effect before, after or instead of `work`. */
export async function respondWithFaults(
  reply: FastifyReply,
  { injected, clock }: FaultContext,
  work: () => SandboxResponse,
): Promise<void> {
  if (injected?.fault === 'delay') {
    await new Promise<void>((resolve) => clock.after(injected.ms ?? 0, resolve));
  }
  if (injected?.fault === 'cut_before') return cutConnection(reply);
  if (injected?.fault === 'status') return sendFault(reply, injected.status ?? 503);
  const { status, body, responseFault = injected && RESPONSE_FAULTS[injected.fault] } = work();
  if (!responseFault) return sendJson(reply, status, body);
  if (responseFault.kind === 'cut') return cutConnection(reply);
  if (responseFault.kind === 'status') return sendFault(reply, responseFault.status);
  const text = JSON.stringify(body);
  send(reply, status, text.slice(0, Math.floor(text.length / 2)));
}

export function sendJson(reply: FastifyReply, status: number, body: WireObject): void {
  send(reply, status, JSON.stringify(body));
}

function send(reply: FastifyReply, status: number, text: string): void {
  reply.code(status).header('content-type', 'application/json; charset=utf-8').send(text);
}

function sendFault(reply: FastifyReply, status: number): void {
  sendJson(reply, status, { message: 'This response is a simulated fault' });
}

/** Closes the connection without a response. */
function cutConnection(reply: FastifyReply): void {
  reply.hijack();
  reply.raw.destroy();
}
