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
 * Type policies for Apollo Client: `new InMemoryCache({ possibleTypes, typePolicies })`. With them, the cache keeps a
 * known `externalId` when a later response has null, as after a lookup by transaction id. They need `possibleTypes`.
 */
export const typePolicies: Record<'PaymentResource' | 'PayoutResource', KeepsExternalId> = {
  PaymentResource: keepsExternalId,
  PayoutResource: keepsExternalId,
};
