interface ExternalIdPolicy {
  fields: {
    externalId: {
      merge(existing: string | null | undefined, incoming: string | null): string | null;
    };
  };
}

const externalIdPolicy: ExternalIdPolicy = {
  fields: { externalId: { merge: (existing, incoming) => incoming ?? existing ?? null } },
};

/**
 * Type policies for Apollo Client: `new InMemoryCache({ possibleTypes, typePolicies })`. With them, the cache keeps a
 * known `externalId` when a later response has null, for example after a lookup by transaction id. They work only
 * together with `possibleTypes`, because they are policies of interfaces.
 */
export const typePolicies: Record<'PaymentResource' | 'PayoutResource', ExternalIdPolicy> = {
  PaymentResource: externalIdPolicy,
  PayoutResource: externalIdPolicy,
};
