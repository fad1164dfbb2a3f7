import { describeStores } from '../support/harness';
import { openStore } from '../support/stores';
import { feed } from './feed';

describeStores('The record of changes', ({ kind, closeAtEnd }) => {
  test('gives consumers of every transport the same list, without gaps or duplicates, although consumers and a gateway are killed', async () => {
    const store = await openStore(kind);
    closeAtEnd(() => store.drop());
    const { violations, figures } = await feed({
      seed: 7,
      store,
      payments: 60,
      durationMs: 6000,
      consumers: 1,
      killEveryMs: 4000,
    });
    expect(violations).toEqual([]);
    expect(Number(figures['gateways killed'])).toBeGreaterThan(0);
  });
});
