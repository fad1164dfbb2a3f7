import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { OURS, THEIRS, bearer, clientOf, keyOf } from '../access/support/rig';
import { until } from '../exactly-once/support/gate';
import { clientKeysFile, clientKeysText, type TestClientKey } from '../support/credentials';
import { graphqlWsClient } from './support/graphql-ws-client';
import {
  connectAs,
  liveRig,
  standing,
  subscriptionLines,
  watching,
  type Kind,
  type LiveRig,
} from './support/live-rig';
import { toldIn, words, type Told, type WireClient } from './support/wire-client';

/** Code and words of an error; where it stands differs from one document to the next. */
const said = (error: Told): object => ({ ...words(error), locations: undefined });

const LOOKUP = (field: Kind) =>
  `query Q($c: UUID!, $t: UUID!) { ${field}(channel: $c, transactionId: $t) { __typename } }`;

describe('Who may not watch', () => {
  let rig: LiveRig;

  beforeAll(async () => {
    rig = await liveRig({
      clients: [
        clientOf('payouts', { scopes: ['payouts:read', 'payments:create', 'payments:confirm'] }),
        clientOf('payments', { scopes: ['payments:read', 'payouts:create'] }),
        clientOf('ours', { channels: [OURS] }),
        clientOf('nothing', { scopes: [], channels: [] }),
      ],
    });
  });

  const REFUSED: [string, string, Kind, string][] = [
    ['without the scope for payments', 'payouts', 'payment', OURS],
    ['without the scope for payouts', 'payments', 'payout', OURS],
    ["on another merchant's channel", 'ours', 'payment', THEIRS],
    ["on another merchant's channel, written in capitals", 'ours', 'payout', THEIRS.toUpperCase()],
    ['on a channel that nobody has', 'ours', 'payment', randomUUID()],
    ['without any right', 'nothing', 'payment', OURS],
  ];

  test.each(REFUSED)('%s is told so in the words of a query', async (_what, id, kind, channel) => {
    const client = await connectAs(rig, id);
    const asked = watching(randomUUID(), kind, channel);
    client.subscribe('a', asked);
    const refused = await client.next();
    expect(refused).toMatchObject({ type: 'error', id: 'a' });
    const { errors } = await rig.client.ask(LOOKUP(kind), asked.variables, bearer(keyOf(id)));
    expect(toldIn(refused).map(said)).toEqual(errors?.map((error) => said(error as Told)));
    expect(toldIn(refused)).toMatchObject([{ extensions: { code: 'FORBIDDEN', retryable: false } }]);
    expect(rig.service.seen).toHaveLength(0);
    expect(subscriptionLines(rig).at(-1)).toMatchObject({ results: 0, errors: ['FORBIDDEN'] });
  });

  test('is told so where it is: the path names the field', async () => {
    const client = await connectAs(rig, 'nothing');
    client.subscribe('a', watching());
    expect(toldIn(await client.next())).toMatchObject([{ path: ['paymentUpdated'] }]);
  });

  test('may go on to watch what it may', async () => {
    const client = await connectAs(rig, 'ours');
    client.subscribe('a', watching(undefined, 'payment', THEIRS));
    expect((await client.next()).type).toBe('error');
    client.subscribe('a', watching(undefined, 'payment', OURS));
    expect((await client.next()).type).toBe('next');
  });
});

describe('When a client key is', () => {
  const shop = clientOf('shop', { channels: [OURS] });
  const other = clientOf('other', {});

  async function watched(): Promise<{
    rig: LiveRig;
    client: WireClient;
    becomes(...clients: TestClientKey[]): void;
  }> {
    const file = clientKeysFile(shop, other);
    const rig = await liveRig({ env: { CLIENT_KEYS_FILE: file } });
    const client = await connectAs(rig, 'shop');
    client.subscribe('a', watching());
    expect((await client.next()).type).toBe('next');
    return { rig, client, becomes: (...clients) => writeFileSync(file, clientKeysText(clients)) };
  }

  const hasRead = ({ logLines }: LiveRig): Promise<unknown> =>
    until(
      () => logLines.join(''),
      (lines) => lines.includes('was read again'),
    );

  test.each([
    ['revoked', [other]],
    ['given to another client', [other, { ...shop, id: 'new' }]],
    ['given fewer scopes', [other, { ...shop, scopes: ['payments:read'] }]],
    ['given other channels', [other, { ...shop, channels: [OURS, THEIRS] }]],
  ] as [string, TestClientKey[]][])(
    '%s, what it watches ends, and the next subscription closes',
    async (_what, clients) => {
      const { rig, client, becomes } = await watched();
      becomes(...clients);
      await hasRead(rig);
      rig.clock.advance(1000);
      expect(toldIn(await client.next())).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }]);
      client.subscribe('b', watching());
      expect((await client.closed).code).toBe(4403);
      expect(client.heard.map(({ type }) => type)).toEqual(['connection_ack', 'next', 'error']);
    },
  );

  test('revoked, who comes back with it is not let in, and stays away', async () => {
    const { rig, becomes } = await watched();
    const stream = graphqlWsClient(rig.client.url, { connectionParams: bearer(keyOf('shop')) });
    const first = stream.iterate(watching());
    expect((await first.next()).value).toEqual(standing('PENDING'));
    becomes(other);
    await hasRead(rig);
    rig.clock.advance(1000);
    await expect(first.next()).rejects.toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }]);
    await expect(stream.iterate(watching()).next()).rejects.toMatchObject({ code: 4401 });
  });

  test('given other rights, who comes back has those', async () => {
    const { rig, becomes } = await watched();
    becomes(other, { ...shop, channels: [THEIRS] });
    await hasRead(rig);
    const stream = graphqlWsClient(rig.client.url, { connectionParams: bearer(keyOf('shop')) });
    const asked = stream.iterate(watching(undefined, 'payment', THEIRS));
    expect((await asked.next()).value).toEqual(standing('PENDING'));
  });

  test('left as it was while others change, what it watches goes on', async () => {
    const { rig, client, becomes } = await watched();
    becomes(shop);
    await hasRead(rig);
    rig.clock.advance(1500);
    expect((await client.settled()).filter(({ type }) => type !== 'next')).toEqual([]);
    client.subscribe('b', watching());
    expect(await client.next()).toMatchObject({ type: 'next', id: 'b' });
  });
});
