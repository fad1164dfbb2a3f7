import type { FastifyReply } from 'fastify';
import type { Clock } from '../shared/clock';
import type { WireObject } from '../shared/wire-object';
import { RESPONSE_FAULTS, type Fault } from './fault-injector';
import type { Damage } from './final-states';

/** A response, and a fault that an amount causes after the work. */
export interface SandboxResponse {
  status: number;
  body: WireObject;
  damage?: Damage;
}

interface ActiveFault {
  injected: Fault | undefined;
  clock: Clock;
}

/** Runs `work` and sends its response, with the injected fault before, after or instead of it. */
export async function exchange(
  reply: FastifyReply,
  { injected, clock }: ActiveFault,
  work: () => SandboxResponse,
): Promise<void> {
  if (injected?.fault === 'delay') {
    await new Promise<void>((resolve) => clock.after(injected.ms ?? 0, resolve));
  }
  if (injected?.fault === 'cut_before') return cut(reply);
  if (injected?.fault === 'status') return sendFault(reply, injected.status ?? 503);
  const { status, body, damage = injected && RESPONSE_FAULTS[injected.fault] } = work();
  if (!damage) return sendJson(reply, status, body);
  if (damage.kind === 'cut') return cut(reply);
  if (damage.kind === 'status') return sendFault(reply, damage.status);
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
  sendJson(reply, status, { message: 'An injected fault' });
}

/** Closes the connection without a response. */
function cut(reply: FastifyReply): void {
  reply.hijack();
  reply.raw.destroy();
}
