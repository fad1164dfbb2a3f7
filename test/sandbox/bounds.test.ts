import { eachTest } from './fixtures/running';
import { redirect } from './fixtures/requests';
import { Store } from '../../src/sandbox/store';
import { outcomeOf } from '../../src/sandbox/outcomes';
import type { Payout } from '../../src/sandbox/transaction';

const running = eachTest({ maxTransactions: 3 });

async function created(name: string): Promise<string> {
  return String(
    (await running.createPayment(redirect('card', { external_id: name }))).body['transaction_id'],
  );
}

async function known(names: string[]): Promise<string[]> {
  const answers = await Promise.all(names.map((name) => running.paymentNamed(name)));
  return names.filter((_name, place) => answers[place]?.status === 200);
}

test('the one settled longest ago makes room first, then the oldest', async () => {
  await created('a');
  const b = await created('b');
  const c = await created('c');
  running.sandbox.control.settle(c);
  running.sandbox.control.settle(b);
  await created('d');
  expect(await known(['a', 'b', 'c', 'd'])).toEqual(['a', 'b', 'd']);
  await created('e');
  expect(await known(['a', 'b', 'd', 'e'])).toEqual(['a', 'd', 'e']);
  await created('f');
  expect(await known(['a', 'd', 'e', 'f'])).toEqual(['d', 'e', 'f']);
  expect(running.sandbox.control.transactions().map((one) => one.externalId)).toEqual(['f', 'e', 'd']);
});

test('one that had to go leaves no timer behind', async () => {
  for (let count = 0; count < 9; count += 1) {
    await running.createPayment(redirect('card', { value: '1.01' }));
  }
  expect(running.clock.advance(10_000)).toBe(3);
});

function payout(number: number): Payout {
  return {
    kind: 'payout',
    status: 'completed',
    id: `id-${number}`,
    channel: 'channel',
    externalId: `order-${number}`,
    amount: { currency: 'PKR', value: '1.00' },
    type: 'jazz_cash',
    request: {},
    createDate: '',
    outcome: outcomeOf('1.00'),
  };
}

test('a full store stays as it is in size, however many come', () => {
  const store = new Store(1000);
  for (let number = 0; number < 200_000; number += 1) {
    const one = payout(number);
    store.add(one);
    store.markSettled(one);
  }
  expect(store.size).toBe(1000);
  expect(store.list(2).map((one) => one.id)).toEqual(['id-199999', 'id-199998']);
  const search = { kind: 'payout', channel: 'channel', now: 0 } as const;
  expect(store.find({ ...search, externalId: 'order-198999' })).toBeUndefined();
  expect(store.find({ ...search, externalId: 'order-199000' })?.id).toBe('id-199000');
});
