import { describePostgres, type StoreKind } from '../../support/stores';

/** `describe` once for each kind of store. */
export function describeKinds(
  name: string,
  kinds: readonly StoreKind[],
  define: (kind: StoreKind) => void,
): void {
  for (const kind of kinds)
    (kind === 'SQLite' ? describe : describePostgres)(`${name} (${kind})`, () => define(kind));
}
