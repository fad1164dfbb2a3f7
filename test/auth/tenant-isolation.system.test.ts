import { DOCUMENTS, validCall } from '../support/calls';
import { testGateway } from '../support/gateway';
import { OUTAGES } from '../support/outage';
import { describePostgres } from '../support/stores';
import { codesOf } from './support/responses';
import { as, describeOwnership, startIsolation } from './support/isolation-harness';
import { OURS } from './support/harness';
import { until } from '../support/latch';

describePostgres('With the journal in PostgreSQL,', () => {
  describeOwnership('PostgreSQL');

  test('a user with only :own scopes gets no data while the journal is down, and nothing is sent to the service', async () => {
    const harness = await startIsolation('PostgreSQL');
    const outage = await OUTAGES.PostgreSQL['the database refuses connections'](harness.store);
    const client = await testGateway(harness.service.url, {
      env: { DATABASE_URL: outage.store.url, CLIENT_KEYS_FILE: harness.keysFile },
    });
    const user = as('user-1');
    const { transactionId } = await harness.create('payment', user);
    const lookUp = () =>
      client.request(
        'query Q($c: UUID!, $t: UUID) { payment(channel: $c, transactionId: $t) { __typename } }',
        { c: OURS, t: transactionId },
        user,
      );
    await until(async () => (await lookUp()).data?.['payment']);
    await outage.down();
    try {
      const calls = await harness.countRequests(async () => {
        const { errors, data } = await lookUp();
        expect(data).toEqual({ payment: null });
        expect(errors).toMatchObject([{ extensions: { code: 'SERVICE_UNAVAILABLE', retryable: true } }]);
        const input = { ...validCall('confirmPayment', 'upi').input, channel: OURS, transactionId };
        const confirmed = await client.request(DOCUMENTS.confirmPayment, { input }, user);
        expect(codesOf(confirmed)).toEqual(['SERVICE_UNAVAILABLE']);
      });
      expect(calls).toBe(0);
    } finally {
      await outage.up();
      await client.gateway.close();
      await outage.close();
    }
  });
});
