import { randomUUID } from 'node:crypto';
import { AUTHORIZED, clientKeysFile } from '../support/credentials';
import { liveRig, standing, subscriptionLines, watching, type LiveRig } from './support/live-rig';
import { WireClient, toldIn } from './support/wire-client';

const OTHER = { authorization: 'Bearer pgk_other-client-key-0123456789' };

describe('The limit of a minute', () => {
  const limited = (): Promise<LiveRig> =>
    liveRig({
      env: {
        RATE_LIMIT_PER_MINUTE: '3',
        CLIENT_KEYS_FILE: clientKeysFile({ id: 'other', key: OTHER.authorization.slice('Bearer '.length) }),
      },
    });

  test('counts subscriptions, refused ones too, whatever connection they come by', async () => {
    const { client: of, service, logLines } = await limited();
    const [one, two] = [
      await WireClient.ready(of.url, AUTHORIZED),
      await WireClient.ready(of.url, AUTHORIZED),
    ];
    one.subscribe('a', watching());
    expect((await one.next()).type).toBe('next');
    two.subscribe('wrong', { query: '{' });
    expect((await two.next()).type).toBe('error');
    two.subscribe('b', watching());
    expect((await two.next()).type).toBe('next');
    const seen = service.seen.length;
    one.subscribe('c', watching());
    const [error] = toldIn(await one.next());
    expect(error?.extensions).toMatchObject({ code: 'RATE_LIMITED', retryable: true });
    const wait = Number(error?.extensions['retryAfterMs']);
    expect(wait).toBeGreaterThan(0);
    expect(wait).toBeLessThanOrEqual(60_000);
    expect(service.seen).toHaveLength(seen);
    // What is not let in leaves no line, as over HTTP: there may be any number of them.
    expect(JSON.stringify(subscriptionLines({ logLines } as LiveRig))).not.toContain('RATE_LIMITED');
    expect((await of.ask('{ __typename }')).errors?.[0]?.message).toBe(error?.message);
  });

  test('leaves other clients alone, and does not count what is told', async () => {
    const lone = await limited();
    const [mine, other] = [
      await WireClient.ready(lone.client.url, AUTHORIZED),
      await WireClient.ready(lone.client.url, OTHER),
    ];
    const id = randomUUID();
    for (let count = 0; count < 3; count += 1) {
      mine.subscribe(`m${count}`, watching());
      expect((await mine.next()).type).toBe('next');
    }
    other.subscribe('a', watching(id));
    expect((await other.next()).payload).toEqual(standing('PENDING'));
    for (const status of ['processing', 'pending', 'processing', 'completed']) {
      lone.service.set(id, { status });
      lone.clock.advance(2500);
      expect((await other.next()).payload).toEqual(standing(status.toUpperCase()));
    }
  });
});
