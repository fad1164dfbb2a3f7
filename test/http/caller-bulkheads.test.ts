import { bearer, clientOf, keyOf } from '../auth/support/harness';
import { CHANNEL } from '../support/caller';
import { accepted, DOCUMENTS, validCall, type Json, type Mutation } from '../support/calls';
import { clientKeysFile } from '../support/credentials';
import { loggedGateway } from '../support/gateway';
import { until } from '../support/latch';
import type { ReceivedRequest } from '../support/payment-service/fake-payment-service';

type Field = Mutation | 'payment';

const METHODS = { createPayment: 'upi', createPayout: 'jazzCash', confirmPayment: 'upi' } as const;

/** Returns a call of a field that causes one request, which contains `name`. `index` makes the calls different. */
function callOf(field: Field, name: string, index: number): { document: string; variables: Json } {
  const transactionId = `${name}-0000-4000-8000-${String(index).padStart(12, '0')}`;
  if (field === 'payment') {
    const document =
      'query Q($c: UUID!, $t: UUID) { payment(channel: $c, transactionId: $t) { __typename } }';
    return { document, variables: { c: CHANNEL, t: transactionId } };
  }
  const { input } = validCall(field, METHODS[field]);
  const id = `${name}-${'x'.repeat(index + 1)}`;
  const ids = field === 'confirmPayment' ? { transactionId } : { idempotencyKey: id, externalId: id };
  return { document: DOCUMENTS[field], variables: { input: { ...input, ...ids } } };
}

const BUSY = 'b0b0b0b0';
const isOfBusyCaller = ({ method, body, query }: ReceivedRequest): boolean =>
  (method === 'POST' ? body : query).includes(BUSY);

describe('A caller with many calls in flight', () => {
  test.each([
    ['createPayment', 84],
    ['confirmPayment', 84],
    ['createPayout', 28],
    ['payment', 112],
  ] as const)(
    'leaves slots of the payment service for calls of %s by others: it has at most %i requests in flight',
    async (field, limit) => {
      const released = Promise.withResolvers<undefined>();
      const CLIENT_KEYS_FILE = clientKeysFile(clientOf('busy', {}), clientOf('other', {}));
      const { client, service } = await loggedGateway(
        async (request) => {
          if (isOfBusyCaller(request)) await released.promise;
          return request.method === 'POST'
            ? accepted(request)
            : {
                status: 200,
                json: { status: 'pending', transaction_id: request.parameters.get('transaction_id') },
              };
        },
        { CLIENT_KEYS_FILE, RATE_LIMIT_PER_MINUTE: '0' },
      );
      const call = (callerId: string, name: string, index: number) => {
        const { document, variables } = callOf(field, name, index);
        return client.request<Json>(document, variables, bearer(keyOf(callerId)));
      };
      const busyCalls = Array.from({ length: limit + 20 }, (_, index) => call('busy', BUSY, index));
      await until(() => service.requests.filter(isOfBusyCaller).length >= limit);
      expect((await call('other', 'c0c0c0c0', 0)).data[field]).toHaveProperty('__typename');
      expect(service.requests.filter(isOfBusyCaller)).toHaveLength(limit);
      released.resolve(undefined);
      for (const { data } of await Promise.all(busyCalls)) expect(data[field]).toHaveProperty('__typename');
    },
    30_000,
  );
});
