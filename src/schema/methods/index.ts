import type { PaymentMethodDefinition, PayoutMethodDefinition } from './method-definition';
import { registry } from './registry';
import type { SandboxMethods } from './sandbox-behaviour';

export const paymentMethods: readonly PaymentMethodDefinition[] = registry.flatMap(
  ({ payment }) => payment ?? [],
);
export const payoutMethods: readonly PayoutMethodDefinition[] = registry.flatMap(
  ({ payout }) => payout ?? [],
);

/** Returns a function that finds a method's definition by wire type; the fallback if the type is unknown or null. */
function createFinderByType<D extends { type: string; fallback?: true }>(
  definitions: readonly D[],
): (type: string | null) => D {
  const byType = new Map<string | null, D>(definitions.map((definition) => [definition.type, definition]));
  const fallback = definitions.find((definition) => definition.fallback);
  if (!fallback)
    throw new Error(
      'One definition of a payment method and one of a payout method must have `fallback: true`.',
    );
  return (type) => byType.get(type) ?? fallback;
}

/** Returns the definition of a payment method by its `payment_method.type`; the fallback if it is unknown or null. */
export const paymentMethodByType = createFinderByType(paymentMethods);

/** Returns the definition of a payout method by its `payout_method.type`; the fallback if it is unknown or null. */
export const payoutMethodByType = createFinderByType(payoutMethods);

/** Returns how the sandbox behaves for each method, by wire type. */
export const sandboxMethods = (): SandboxMethods => ({
  payments: new Map(paymentMethods.map(({ sandbox }) => [sandbox.type, sandbox])),
  payouts: new Map(
    payoutMethods.flatMap(({ sandbox }) => (sandbox ? [[sandbox.type, sandbox] as const] : [])),
  ),
});
