import type { FastifyReply } from 'fastify';
import type { WireObject } from '../schema/methods/sandbox-behaviour';
import type { Clock } from './clock';
import { RESPONSE_FAULTS, type Fault } from './fault-injector';
import type { Damage } from './final-states';

/** What a piece of work answers, and what happens to that answer on its way. */
export interface Answer {
  status: number;
  body: WireObject;
  damage?: Damage;
}

/** Does the work and sends its answer, with the injected fault before, after or instead of it. */
export async function exchange(reply: FastifyReply, fault: ActiveFault, work: () => Answer): Promise<void> {
  const { injected, clock } = fault;
  if (injected?.fault === 'delay') {
    await new Promise<void>((resolve) => clock.after(injected.ms ?? 0, resolve));
  }
  if (injected?.fault === 'cut_before') return cut(reply);
  if (injected?.fault === 'status') return sendFault(reply, injected.status ?? 503);
  const answer = work();
  const damage = answer.damage ?? (injected && RESPONSE_FAULTS[injected.fault]);
  if (!damage) return sendJson(reply, answer.status, answer.body);
  if (damage.kind === 'cut') return cut(reply);
  if (damage.kind === 'status') return sendFault(reply, damage.status);
  const text = JSON.stringify(answer.body);
  send(reply, answer.status, text.slice(0, Math.floor(text.length / 2)));
}

export interface ActiveFault {
  injected: Fault | undefined;
  clock: Clock;
}

export function sendJson(reply: FastifyReply, status: number, body: WireObject): void {
  send(reply, status, JSON.stringify(body));
}

function send(reply: FastifyReply, status: number, text: string): void {
  reply.code(status).header('content-type', 'application/json; charset=utf-8').send(text);
}

function sendFault(reply: FastifyReply, status: number): void {
  sendJson(reply, status, { message: 'A fault of the service' });
}

/** The client gets no answer at all. */
function cut(reply: FastifyReply): void {
  reply.hijack();
  reply.raw.destroy();
}
