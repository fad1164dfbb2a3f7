import { AUTHORIZED } from '../support/credentials';
import { Client, cacheExchange, fetchExchange } from '@urql/core';
import { ConfirmPaymentDocument, CreatePaymentDocument, PaymentDocument } from '../generated/operations';
import { CHANNEL, testGateway, testSandbox } from '../support/gateway';
import { urqlClient } from './clients';
import { upiInput } from './samples';

test('after a confirm urql asks again instead of showing what it kept', async () => {
  const sandbox = await testSandbox();
  const client = urqlClient((await testGateway(sandbox.url)).url);
  const { data } = await client.mutation(CreatePaymentDocument, { input: upiInput() });
  if (data?.createPayment.__typename !== 'PaymentSuccess') throw new Error('The payment was not created.');
  const { transactionId } = data.createPayment.payment;

  const lookUp = () => client.query(PaymentDocument, { channel: CHANNEL, transactionId });
  const statuses = [(await lookUp()).data?.payment, (await lookUp()).data?.payment];
  expect(sandbox.control.counts().payment.lookups).toBe(1);
  const input = { channel: CHANNEL, transactionId, confirmation: { upi: { utr: '412345678901' } } };
  await client.mutation(ConfirmPaymentDocument, { input });
  statuses.push((await lookUp()).data?.payment);
  expect(statuses).toMatchObject([
    { status: 'PROCESSING' },
    { status: 'PROCESSING' },
    { status: 'COMPLETED' },
  ]);
});

test('urql with nothing set sends queries by GET: it is refused, and told what to set', async () => {
  const sandbox = await testSandbox();
  const { url } = await testGateway(sandbox.url);
  const client = new Client({
    url,
    exchanges: [cacheExchange, fetchExchange],
    fetchOptions: { headers: AUTHORIZED },
  });
  const { error } = await client.query(PaymentDocument, { channel: CHANNEL, externalId: 'nobody' });
  expect(error?.graphQLErrors).toMatchObject([{ extensions: { code: 'BAD_REQUEST', retryable: false } }]);
  expect(error?.message).toContain('POST');
});
