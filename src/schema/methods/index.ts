import { registry } from './registry';
import type { MethodDefinition, PaymentMethodDefinition, PayoutMethodDefinition } from './method-definition';
import type { SandboxMethods } from './sandbox-behaviour';

/** Every method's room. */
export const rooms: readonly MethodDefinition[] = registry;

export const paymentRooms: readonly PaymentMethodDefinition[] = rooms.flatMap(({ payment }) => payment ?? []);
export const payoutRooms: readonly PayoutMethodDefinition[] = rooms.flatMap(({ payout }) => payout ?? []);

interface Room {
  type: string;
  fallback?: true;
}

/** Finds the room of a wire type; a type without one goes to the fallback. */
function finder<R extends Room>(all: readonly R[]): (type: string | null) => R {
  const byType = new Map(all.map((room) => [room.type, room]));
  const fallback = all.find((room) => room.fallback);
  if (!fallback) throw new Error('One room must take in the methods that are not known.');
  return (type) => (type === null ? fallback : (byType.get(type) ?? fallback));
}

/** The room of a payment whose `payment_method.type` is this. */
export const paymentRoomOf = finder(paymentRooms);

/** The room of a payout whose `payout_method.type` is this. */
export const payoutRoomOf = finder(payoutRooms);

/** The sandbox's side of every room. */
export function sandboxMethods(): SandboxMethods {
  return {
    payments: new Map(paymentRooms.map(({ sandbox }) => [sandbox.type, sandbox])),
    payouts: new Map(
      payoutRooms.flatMap(({ sandbox }) => (sandbox ? [[sandbox.type, sandbox] as const] : [])),
    ),
  };
}
