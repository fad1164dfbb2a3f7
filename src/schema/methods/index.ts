import type { PaymentMethodDefinition, PayoutMethodDefinition } from './method-definition';
import { methodDefinitions } from './registry';
import type { SandboxMethods } from './sandbox-behaviour';

export const paymentMethods: readonly PaymentMethodDefinition[] = methodDefinitions.flatMap(
  ({ payment }) => payment ?? [],
);
export const payoutMethods: readonly PayoutMethodDefinition[] = methodDefinitions.flatMap(
  ({ payout }) => payout ?? [],
);

function createFinderByType<D extends { type: string; isFallback?: true }>(
  definitions: readonly D[],
): (type: string | null) => D {
  const byType = new Map<string | null, D>(definitions.map((definition) => [definition.type, definition]));
  const fallback = definitions.find((definition) => definition.isFallback);
  if (!fallback)
    throw new Error(
      'One definition of a payment method and one of a payout method must have `isFallback: true`.',
    );
  return (type) => byType.get(type) ?? fallback;
}

/** Finds a payment method by `payment_method.type`. Returns the method `other` for an unknown type and for null. */
export const findPaymentMethod = createFinderByType(paymentMethods);

/** Finds a payout method by `payout_method.type`. Returns the method `other` for an unknown type and for null. */
export const findPayoutMethod = createFinderByType(payoutMethods);

/** Returns the sandbox's behaviour for every payment method, and every payout method except `other`. */
export const getSandboxMethods = (): SandboxMethods => ({
  paymentMethodByType: new Map(paymentMethods.map(({ sandbox }) => [sandbox.type, sandbox])),
  payoutMethodByType: new Map(
    payoutMethods.flatMap(({ sandbox }) => (sandbox ? [[sandbox.type, sandbox] as const] : [])),
  ),
});
