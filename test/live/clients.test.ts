import { randomUUID } from 'node:crypto';
import {
  ConfirmPaymentDocument,
  CreatePaymentDocument,
  PaymentDocument,
  PaymentUpdatedDocument,
  PayoutUpdatedDocument,
} from '../generated/operations';
import { Issuer, goodClaims, newKey, tokenBy } from '../access/support/issuer';
import { OURS } from '../access/support/rig';
import { upiInput } from '../clients/samples';
import { until } from '../exactly-once/support/gate';
import { AUTHORIZED } from '../support/credentials';
import { CHANNEL } from '../support/gateway';
import { liveGateway, type LiveGateway } from './support/live-gateway';
import { liveRig, moveUntil } from './support/live-rig';
import { WAYS, apolloClientOf, urqlOverEvents, watchByApollo, watchByUrql } from './support/watching-clients';

const mayCall = () => AUTHORIZED;

describe.each(WAYS)('%s', (_name, connect) => {
  let live: LiveGateway;
  beforeAll(async () => {
    live = await liveGateway();
  });

  const watch = (credentials: () => { authorization?: string } = mayCall) =>
    connect(live.client.url, credentials);

  test('watches a payment, whole and typed, until it is paid', async () => {
    const transactionId = await live.sell();
    const watched = watch()(PaymentUpdatedDocument, { channel: CHANNEL, transactionId });
    const { paymentUpdated: first } = await watched.result(1);
    expect(first).toMatchObject({
      __typename: 'CardPayment',
      transactionId,
      status: 'PENDING',
      nextAction: { __typename: 'RedirectAction', url: expect.stringContaining(transactionId) as unknown },
    });
    live.sandbox.control.settle(transactionId);
    await live.look(transactionId);
    const { paymentUpdated: last } = await watched.result(2);
    expect(last).toMatchObject({ transactionId, status: 'COMPLETED', nextAction: null });
    await watched.over();
    expect(watched).toMatchObject({ results: [{}, {}], errors: [], failure: null });
  });

  test('watches a payout that is declined', async () => {
    const transactionId = await live.payOut();
    const watched = watch()(PayoutUpdatedDocument, { channel: CHANNEL, transactionId });
    expect((await watched.result(1)).payoutUpdated.status).toBe('PROCESSING');
    live.sandbox.control.decline(transactionId);
    live.clock.advance(2000);
    expect((await watched.result(2)).payoutUpdated).toMatchObject({
      status: 'FAILED',
      error: { code: expect.any(String) as unknown },
    });
    await watched.over();
  });

  test('leaves when it has seen enough: nobody looks any more', async () => {
    const transactionId = await live.sell();
    const watched = watch()(PaymentUpdatedDocument, { channel: CHANNEL, transactionId });
    await watched.result(1);
    const ended = (): number =>
      live.logLines.filter((line) => line.includes('"operation":"subscription"')).length;
    const endedBefore = ended();
    watched.leave();
    await until(ended, (count) => count > endedBefore);
    const before = live.lookups();
    live.clock.advance(10_000);
    await live.look(await live.sell());
    expect(live.lookups()).toBe(before + 1);
  });

  test('hears by code that there is no such payment', async () => {
    const watched = watch()(PaymentUpdatedDocument, { channel: CHANNEL, transactionId: randomUUID() });
    await watched.over();
    expect(watched.results).toEqual([]);
    expect(watched.errors).toMatchObject([
      {
        message: expect.stringContaining('no such payment on this channel') as string,
        extensions: { code: 'NOT_FOUND', retryable: false, requestId: expect.any(String) as unknown },
      },
    ]);
  });

  test('hears that its credentials are not good', async () => {
    const watched = watch(() => ({ authorization: 'Bearer pgk_nobody' }))(PaymentUpdatedDocument, {
      channel: CHANNEL,
      transactionId: randomUUID(),
    });
    await watched.over();
    const { failure, errors, results } = watched;
    const told = [failure?.message, failure?.reason, ...errors.map(({ extensions }) => extensions?.['code'])];
    expect(told.join(' ')).toContain('UNAUTHENTICATED');
    expect(results).toEqual([]);
  });
});

describe('Apollo Client', () => {
  test('shows the newest state wherever the payment is on the screen, without asking for it', async () => {
    const live = await liveGateway();
    const client = apolloClientOf(live.client.url, mayCall);
    const transactionId = await live.sell();
    const variables = { channel: CHANNEL, transactionId };
    await client.query({ query: PaymentDocument, variables });
    const seen: unknown[] = [];
    const screen = client
      .watchQuery({ query: PaymentDocument, variables, fetchPolicy: 'cache-only' })
      .subscribe(({ data }) => {
        if (data?.payment && 'status' in data.payment) seen.push(data.payment.status);
      });
    const watched = watchByApollo(client)(PaymentUpdatedDocument, variables);
    await watched.result(1);
    live.sandbox.control.settle(transactionId);
    live.clock.advance(3000);
    await watched.over();
    await until(
      () => seen.at(-1),
      (status) => status === 'COMPLETED',
    );
    expect(seen).toEqual(['PENDING', 'COMPLETED']);
    screen.unsubscribe();
  });

  test('creates, watches and confirms over its two links, and hears of its own confirm at once', async () => {
    const live = await liveGateway();
    const client = apolloClientOf(live.client.url, mayCall);
    const { data } = await client.mutate({
      mutation: CreatePaymentDocument,
      variables: { input: upiInput() },
    });
    if (data?.createPayment.__typename !== 'PaymentSuccess') throw new Error('The payment was not created.');
    const { transactionId } = data.createPayment.payment;
    const watched = watchByApollo(client)(PaymentUpdatedDocument, { channel: CHANNEL, transactionId });
    expect((await watched.result(1)).paymentUpdated).toMatchObject({
      nextAction: { __typename: 'ProvideUtrAction' },
    });
    const input = { channel: CHANNEL, transactionId, confirmation: { upi: { utr: '412345678901' } } };
    await client.mutate({ mutation: ConfirmPaymentDocument, variables: { input } });
    await watched.over();
    expect(watched.results.at(-1)?.paymentUpdated).toMatchObject({ status: 'COMPLETED' });
  });

  test('whose token expired goes on with a new one: it subscribes again, and the new one is asked for', async () => {
    const key = await newKey('ES256');
    const issuer = await Issuer.start(key);
    const rig = await liveRig({ env: issuer.settings });
    const tokens: string[] = [];
    const tokenFor = async (seconds: number): Promise<string> => {
      const exp = Math.floor(rig.clock.now() / 1000) + seconds;
      return `Bearer ${await tokenBy(key, { claims: { ...goodClaims(rig.clock.now()), exp } })}`;
    };
    let authorization = await tokenFor(20);
    const watch = watchByApollo(
      apolloClientOf(rig.client.url, () => {
        tokens.push(authorization);
        return { authorization };
      }),
    );
    const variables = { channel: OURS, transactionId: randomUUID() };
    const first = watch(PaymentUpdatedDocument, variables);
    await first.result(1);
    await moveUntil(rig, () => first.isOver);
    expect(first.errors).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }]);
    authorization = await tokenFor(600);
    const second = watch(PaymentUpdatedDocument, variables);
    expect((await second.result(1)).paymentUpdated).toMatchObject({ status: 'PENDING' });
    expect(new Set(tokens).size).toBe(2);
    second.leave();
  });
});

test('urql over server-sent events does not come back by itself when its gateway goes: it says that it is over', async () => {
  const rig = await liveRig();
  const watch = watchByUrql(urqlOverEvents(rig.client.url, mayCall));
  const watched = watch(PaymentUpdatedDocument, { channel: OURS, transactionId: randomUUID() });
  await watched.result(1);
  await rig.client.gateway.close();
  await watched.over();
  expect(watched.results).toMatchObject([{ paymentUpdated: { status: 'PENDING' } }]);
});
