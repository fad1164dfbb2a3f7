import { randomUUID } from 'node:crypto';
import { graphqlWsClient } from '../live/support/graphql-ws-client';
import { Watching } from '../live/support/watching';
import {
  WHOLE_PAYMENT,
  confirmPayment,
  createPayment,
  createPayout,
  lookUpPayment,
  lookUpPayout,
} from '../methods/selection';
import { CHANNEL } from '../support/gateway';
import { callBack, tokenIn } from './support/called-back';
import { RepeatingRig, about, declineWith, echoOf, newPayment, newPayout } from './support/repeating-service';

let rig: RepeatingRig;

beforeAll(async () => {
  rig = await RepeatingRig.start();
});

/** How a service may write down what it was told with the create, when it is asked later. */
const WRITINGS: Record<string, (address: string) => string> = {
  'the address': (address) => address,
  'the address within a sentence': (address) => `Calling ${address}, please wait.`,
  'the address, percent-encoded': encodeURIComponent,
  'the path alone': (address) => new URL(address).pathname,
  'the token': tokenIn,
};

/** In these types a text stands in free fields, in fields that the payer pays to, and in fields that nobody knows. */
const TYPES = ['card', 'upi', 'c2c', 'qris', 'other'];

/** A payment that the service has taken. */
async function paid(): Promise<{ input: object; ids: { channel: string; transactionId: string } }> {
  const [input, transactionId] = [newPayment(), randomUUID()];
  rig.replyToPost = about({ status: 'processing' }, transactionId);
  await rig.ask(createPayment('{ __typename }'), { input });
  return { input, ids: { channel: CHANNEL, transactionId } };
}

describe.each(Object.entries(WRITINGS))(
  'Nobody sees the token where the service repeats %s',
  (_how, write) => {
    const echo = (type: string) => echoOf(type, write(rig.lastAddress));

    beforeEach(() => {
      rig.replyToGet = () => ({ status: 404, json: {} });
    });

    test('in what completes a short answer', async () => {
      for (const type of TYPES) {
        rig.replyToGet = (request) => about(echo(type))(request);
        rig.replyToPost = about({ status: 'failed' });
        expect(await rig.ask(createPayment(), { input: newPayment() })).toContain('"PaymentSuccess"');
      }
    });

    test('in what is found again after a lost answer', async () => {
      const now = new Date(Date.now() + 1000).toISOString().replace('Z', '+00:00');
      rig.replyToGet = (request) => about({ ...echo('upi'), create_date: now })(request);
      rig.replyToPost = () => (_response, socket) => void socket.resetAndDestroy();
      expect(await rig.ask(createPayment(), { input: newPayment() })).toContain('"replayed":true');
    });

    test('in a replay', async () => {
      const { input } = await paid();
      for (const type of TYPES) {
        rig.replyToGet = (request) => about(echo(type))(request);
        expect(await rig.ask(createPayment(), { input })).toContain('"replayed":true');
      }
    });

    test('in a lookup', async () => {
      const { ids } = await paid();
      for (const type of TYPES) {
        rig.replyToGet = (request) => about(echo(type))(request);
        expect(await rig.ask(lookUpPayment(), ids)).toContain(ids.transactionId);
      }
    });

    test('in a lookup of a payout', async () => {
      const transactionId = randomUUID();
      rig.replyToPost = about({ status: 'processing' }, transactionId);
      await rig.ask(createPayout('{ __typename }'), { input: newPayout() });
      rig.replyToGet = (request) => about(echo('imps'))(request);
      expect(await rig.ask(lookUpPayout(), { channel: CHANNEL, transactionId })).toContain(transactionId);
      rig.replyToGet = (request) => about(declineWith(write(rig.lastAddress)))(request);
      expect(await rig.ask(lookUpPayout(), { channel: CHANNEL, transactionId })).toContain(
        'insufficient funds',
      );
    });

    test('in an attempt', async () => {
      const { input, ids } = await paid();
      rig.replyToGet = (request) => about(echo('upi'))(request);
      const attempt = `query ($input: ID!) { attempt(idempotencyKey: $input) { payment ${WHOLE_PAYMENT} } }`;
      const { idempotencyKey } = input as { idempotencyKey: string };
      expect(await rig.ask(attempt, { input: idempotencyKey })).toContain(ids.transactionId);
    });

    test('in the answer to a confirm', async () => {
      const { ids } = await paid();
      for (const json of [echo('upi'), declineWith(write(rig.lastAddress))]) {
        rig.replyToPost = about(json);
        const input = { ...ids, confirmation: { upi: { utr: '123456789012' } } };
        expect(await rig.ask(confirmPayment(), { input })).toContain('"PaymentSuccess"');
      }
    });

    test('in a live update', async () => {
      const { ids } = await paid();
      rig.replyToGet = (request) => about({ ...echo('upi'), status: 'processing' })(request);
      const query = `subscription { paymentUpdated(channel: "${CHANNEL}", transactionId: "${ids.transactionId}") ${WHOLE_PAYMENT} }`;
      const client = graphqlWsClient(rig.client.url, { retryAttempts: 0 });
      const watching = new Watching(client, query, 'paymentUpdated');
      await watching.told(1);
      rig.replyToGet = (request) => about({ ...echo('upi'), status: 'failed' })(request);
      await callBack(rig.client, rig.lastAddress);
      await watching.ended();
      expect(watching.values).toHaveLength(2);
      expect(rig.found(JSON.stringify(watching.values))).toEqual([]);
    });
  },
);
