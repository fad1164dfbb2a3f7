import { noPostgres, openStore, type StoreKind } from '../support/stores';
import { feed } from './feed';

jest.setTimeout(180_000);

describeStores('The record of changes', (harnesses) => {
  test('shows consumers of every transport the same list without gap or double while they and a gateway are killed', async () => {
    const store = await openStore(kind);
    closeAfterTests(Object.assign(store, { close: () => store.drop() }));
    const { violations, figures } = await feed({
      seed: 7,
      store,
      payments: 60,
      durationMs: 6000,
      gateways,
      consumers: 1,
      killEveryMs: 4000,
    });
    expect(violations).toEqual([]);
    expect(Number(figures['gateways killed'])).toBeGreaterThan(0);
  });
});
