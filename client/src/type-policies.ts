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
 * For Apollo Client: `new InMemoryCache({ possibleTypes, typePolicies })`. The cache keeps a known `externalId` if a
 * later response has null, as those of lookups by transaction id and of subscriptions have. Needs `possibleTypes`.
 */
export const typePolicies: Record<'PaymentResource' | 'PayoutResource', KeepsExternalId> = {
  PaymentResource: keepsExternalId,
  PayoutResource: keepsExternalId,
};
