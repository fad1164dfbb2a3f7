import { CHANNEL } from '../support/gateway';
import { heapInUse } from '../http/support/resources';
import { startHarness, subscription } from './support/harness';
import type { Watching } from './support/subscriptions';
import { TRANSPORTS, firstOf } from './support/subscriptions';

/** A document of 8 KB that takes more than 1 MB when parsed: it consists of nested inline fragments. */
const denseDocument = (name: string, transactionId: string): string =>
  `subscription ${name} { paymentUpdated(channel: "${CHANNEL}", transactionId: "${transactionId}") { ${`${'...{'.repeat(44)}__typename${'}'.repeat(44)}`.repeat(35)} } }`;

describe.each(TRANSPORTS)('Open subscriptions over %s', (_name, connect) => {
  test.each(['variables', 'extensions'])('do not keep %s that they do not use', async (field) => {
    const harness = await startHarness();
    const id = harness.addPayment();
    // 90 KB of JSON take 1 MB when parsed.
    const unused = { unused: JSON.parse(`[${Array(30_000).fill('{}').join()}]`) as object };
    const watch = async (count: number): Promise<void> => {
      for (let started = 0; started < count; started += 1) {
        const { query, variables } = subscription(id);
        const payload = { query, variables, [field]: { ...(field === 'variables' && variables), ...unused } };
        const { errors } = await firstOf(connect(harness), payload);
        expect(errors).toBeUndefined();
      }
    };
    await watch(2);
    const before = heapInUse();
    await watch(20);
    expect(heapInUse() - before).toBeLessThan(10);
  });

  test('are limited by the memory of their different documents, until they end', async () => {
    const harness = await startHarness();
    const id = harness.addPayment();
    const open: Watching[] = [];
    const openUntilRefused = async (name: string): Promise<Watching> => {
      for (let count = 0; count < 12; count += 1) {
        const watching = await firstOf(connect(harness), { query: denseDocument(`${name}${count}`, id) });
        if (watching.errors) return watching;
        open.push(watching);
      }
      throw new Error('No subscription was refused.');
    };
    expect((await openUntilRefused('First')).codes).toEqual(['RATE_LIMITED']);
    expect(open.length).toBeGreaterThan(3);
    // A document that an open subscription uses needs no more memory.
    expect((await firstOf(connect(harness), { query: denseDocument('First0', id) })).errors).toBeUndefined();
    const openBefore = open.length;
    open.splice(1).forEach((watching) => watching.leave());
    await harness.subscriptionsEnded(openBefore);
    await openUntilRefused('Second');
    expect(open.length).toBe(openBefore);
  });
});
