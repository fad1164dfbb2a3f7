import { ServiceError } from '../../src/datasources/payment-service/service-error';
import { CallerBulkheads } from '../../src/resolvers/caller-bulkheads';
import { bearer, clientOf, keyOf } from '../auth/support/harness';
import { accepted, DOCUMENTS, validCall, type Json } from '../support/calls';
import { clientKeysFile } from '../support/credentials';
import { loggedGateway } from '../support/gateway';
import { until } from '../support/latch';
import type { ReceivedRequest } from '../support/payment-service/fake-payment-service';

describe('The bulkheads of a caller', () => {
  const never = () => new Promise<never>(() => undefined);

  test('limit its concurrent lookups, and not those of other callers', async () => {
    const bulkheads = new CallerBulkheads();
    let startedCount = 0;
    const ends: (() => void)[] = [];
    const lookUp = () => {
      startedCount += 1;
      return new Promise<void>((resolve) => ends.push(resolve));
    };
    const lookups = Array.from({ length: 200 }, () => bulkheads.run('lookups', 'busy', lookUp));
    expect(startedCount).toBe(112);
    expect(await bulkheads.run('lookups', 'other', async () => 'found')).toBe('found');
    while (startedCount < 200) {
      ends.shift()?.();
      await new Promise(setImmediate);
      expect(ends.length).toBeLessThanOrEqual(112);
    }
    ends.forEach((end) => end());
    await Promise.all(lookups);
  });

  test('are released by a lookup that fails', async () => {
    const bulkheads = new CallerBulkheads();
    const fail = () => Promise.reject(new Error('failed'));
    const lookups = Array.from({ length: 300 }, () => bulkheads.run('lookups', 'caller', fail));
    expect((await Promise.allSettled(lookups)).every(({ status }) => status === 'rejected')).toBe(true);
    expect(await bulkheads.run('lookups', 'caller', async () => 'found')).toBe('found');
  });

  test('reject a lookup if 2000 others wait', async () => {
    const bulkheads = new CallerBulkheads();
    for (let count = 0; count < 2112; count += 1) void bulkheads.run('lookups', 'caller', never);
    await expect(bulkheads.run('lookups', 'caller', never)).rejects.toBeInstanceOf(ServiceError);
  });
});

describe('A caller with many calls in flight', () => {
  test.each(['createPayment', 'createPayout'] as const)(
    'leaves slots of the payment service for %s of other callers',
    async (mutation) => {
      const released = Promise.withResolvers<undefined>();
      const isBusyCallers = ({ body }: ReceivedRequest): boolean => body.includes('busy-');
      const { client, service } = await loggedGateway(
        async (request) => {
          if (isBusyCallers(request)) await released.promise;
          return accepted(request);
        },
        {
          CLIENT_KEYS_FILE: clientKeysFile(clientOf('busy', {}), clientOf('other', {})),
          RATE_LIMIT_PER_MINUTE: '0',
        },
      );
      const create = (callerId: string, index: number) => {
        const { input } = validCall(mutation, mutation === 'createPayment' ? 'upi' : 'jazzCash');
        const name = `${callerId}-${'x'.repeat(index + 1)}`;
        const named = { ...input, idempotencyKey: name, externalId: name };
        return client.request<Json>(DOCUMENTS[mutation], { input: named }, bearer(keyOf(callerId)));
      };
      const busyCalls = Array.from({ length: 100 }, (_, index) => create('busy', index));
      const limit = mutation === 'createPayment' ? 84 : 28;
      await until(() => service.requests.filter(isBusyCallers).length >= limit);
      expect((await create('other', 0)).data[mutation]).toMatchObject({ replayed: false });
      expect(service.requests.filter(isBusyCallers)).toHaveLength(limit);
      released.resolve(undefined);
      const responses = await Promise.all(busyCalls);
      expect(responses.map(({ data }) => data[mutation])).toEqual(
        responses.map(() => expect.objectContaining({ replayed: false })),
      );
    },
    30_000,
  );
});
