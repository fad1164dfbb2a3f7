import type { PaymentMethodDefinition, PayoutMethodDefinition } from './method-definition';
import { registry } from './registry';
import type { SandboxMethods } from './sandbox-behaviour';

export const paymentMethods: readonly PaymentMethodDefinition[] = registry.flatMap(
  ({ payment }) => payment ?? [],
);
export const payoutMethods: readonly PayoutMethodDefinition[] = registry.flatMap(
  ({ payout }) => payout ?? [],
);

/** Finds the definition of a wire type; the fallback for an unknown one and for null. */
function finderByType<D extends { type: string; fallback?: true }>(
  definitions: readonly D[],
): (type: string | null) => D {
  const byType = new Map<string | null, D>(definitions.map((definition) => [definition.type, definition]));
  const fallback = definitions.find((definition) => definition.fallback);
  if (!fallback) throw new Error('No method of the registry is the fallback for unknown methods.');
  return (type) => byType.get(type) ?? fallback;
}

/** The definition of a payment by its `payment_method.type`. */
export const paymentMethodByType = finderByType(paymentMethods);

/** The definition of a payout by its `payout_method.type`. */
export const payoutMethodByType = finderByType(payoutMethods);

/** The methods as the sandbox implements them. */
export const sandboxMethods = (): SandboxMethods => ({
  payments: new Map(paymentMethods.map(({ sandbox }) => [sandbox.type, sandbox])),
  payouts: new Map(
    payoutMethods.flatMap(({ sandbox }) => (sandbox ? [[sandbox.type, sandbox] as const] : [])),
  ),
});
