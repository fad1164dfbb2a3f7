import { closeAfterTests } from '../support/cleanup';
import { noPostgres, openStore, type StoreKind } from '../support/stores';
import { feed } from './feed';

jest.setTimeout(180_000);

const STORES: [StoreKind, number][] = noPostgres
  ? [['SQLite', 1]]
  : [
      ['SQLite', 1],
      ['PostgreSQL', 2],
    ];

describe.each(STORES)('The record of changes on %s', (kind, gateways) => {
  test('shows consumers of every transport the same list without gap or double while they and a gateway are killed', async () => {
    const store = await openStore(kind);
    closeAfterTests(Object.assign(store, { close: () => store.drop() }));
    const { violations } = await feed({
      seed: 7,
      store,
      payments: 60,
      durationMs: 6000,
      gateways,
      consumers: 1,
      killEveryMs: 4000,
    });
    expect(violations).toEqual([]);
  });
});
