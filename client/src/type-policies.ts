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
 * For Apollo Client: `new InMemoryCache({ possibleTypes, typePolicies })`. The cache keeps a known `externalId` where a
 * later response has null, as lookups by transaction id and subscriptions do. Needs `possibleTypes`.
 */
export const typePolicies: Record<'PaymentResource' | 'PayoutResource', KeepsExternalId> = {
  PaymentResource: keepsExternalId,
  PayoutResource: keepsExternalId,
};
