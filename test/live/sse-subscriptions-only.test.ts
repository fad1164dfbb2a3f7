import { randomUUID } from 'node:crypto';
import { createInput } from '../exactly-once/support/caller';
import { EventStream } from './support/event-stream';
import { liveRig, watching, type LiveRig } from './support/live-rig';

const { query: WATCH } = watching();

let rig: LiveRig;
let url: string;

beforeAll(async () => {
  rig = await liveRig();
  url = `${rig.client.url}/stream`;
});

describe('Only subscriptions are carried out', () => {
  const create = () => ({
    query: 'mutation M($input: CreatePaymentInput!) { createPayment(input: $input) { __typename } }',
    variables: { input: createInput('payment', randomUUID()) },
  });
  const look = () => ({
    ...watching(),
    query: WATCH.replace('subscription', 'query').replace('paymentUpdated', 'payment'),
  });

  test.each([
    ['GET', 'mutation', create],
    ['POST', 'mutation', create],
    ['GET', 'query', look],
    ['POST', 'query', look],
  ] as const)('a %s with a %s is refused, and nothing is sent', async (method, _kind, asked) => {
    rig.service.seen.length = 0;
    const stream = await EventStream.open(url, asked(), { method });
    expect(await stream.rest()).toMatchObject([
      { event: 'next', data: { errors: [{ extensions: { code: 'BAD_REQUEST', retryable: false } }] } },
      { event: 'complete' },
    ]);
    expect(rig.service.seen).toEqual([]);
  });

  test('a mutation beside a subscription is not carried out either, whichever is chosen', async () => {
    rig.service.seen.length = 0;
    const { query: mutation, variables } = create();
    const both = { query: `${WATCH} ${mutation}`, variables: { ...watching().variables, ...variables } };
    const chosen = await EventStream.open(url, { ...both, operationName: 'M' });
    expect(await chosen.rest()).toMatchObject([
      { data: { errors: [{ extensions: { code: 'BAD_REQUEST' } }] } },
      { event: 'complete' },
    ]);
    const other = await EventStream.open(url, { ...both, operationName: 'Watch' });
    expect(await other.nextData()).toEqual({ status: 'PENDING' });
    other.leave();
    expect(rig.service.seen.map(({ method }) => method)).toEqual(['GET']);
  });

  test('a subscription that is sent to /graphql by POST is told where it belongs', async () => {
    const { errors } = await rig.client.ask(WATCH, watching().variables);
    expect(errors).toMatchObject([
      { message: expect.stringContaining('/graphql/stream') as unknown, extensions: { code: 'BAD_REQUEST' } },
    ]);
  });
});
