interface KeepsExternalId {
  fields: {
    externalId: {
      merge(existing: string | null | undefined, incoming: string | null): string | null;
    };
  };
}

const keepsExternalId: KeepsExternalId = {
  fields: { externalId: { merge: (existing, incoming) => incoming ?? existing ?? null } },
};

/**
 * Type policies for Apollo Client: `new InMemoryCache({ possibleTypes, typePolicies })`. The cache then keeps a known
 * `externalId` when a later response has null instead, for example a response to a lookup by transaction id or of a
 * subscription. They have no effect without `possibleTypes`.
 */
export const typePolicies: Record<'PaymentResource' | 'PayoutResource', KeepsExternalId> = {
  PaymentResource: keepsExternalId,
  PayoutResource: keepsExternalId,
};
