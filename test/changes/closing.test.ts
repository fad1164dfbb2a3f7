import { systemClock } from '../../src/clock';
import { AdvancingClock } from '../../src/sandbox/clock';
import { noPostgres, postgresPlace, SERVER, type Place } from '../journal/support/stores';
import { tcpProxy } from '../journal/support/tcp-proxy';
import { Door } from './support/door';
import { acquainted, closeAll, connections, instance, newChange, until } from './support/feeds';

const A_DAY = 86_400_000;

(noPostgres ? describe.skip : describe)(
  noPostgres ? `an instance (${noPostgres})` : 'an instance that is closed',
  () => {
    let place: Place;
    let clock: AdvancingClock;
    beforeAll(async () => {
      place = await postgresPlace();
    });
    beforeEach(() => {
      clock = new AdvancingClock(systemClock);
    });
    afterEach(closeAll);
    afterAll(() => place.drop());

    const expectNothingLeft = async (): Promise<void> => {
      expect(clock.advance(A_DAY)).toBe(0);
      await until('no connection is left', async () => (await connections(place.url)).length === 0);
      expect(clock.advance(A_DAY)).toBe(0);
    };

    test('leaves nothing behind, neither connections nor timers', async () => {
      const [one, two] = [instance(place.url, clock), instance(place.url, clock)];
      await acquainted(one, two);
      one.feed.tell(newChange());
      await Promise.all([one.feed.close(), two.feed.close()]);
      await expectNothingLeft();
      expect([...one.reached, ...two.reached]).toEqual([]);
    });

    test('while it connects does not connect any more', async () => {
      const one = instance(place.url, clock);
      one.feed.tell(newChange());
      await one.feed.close();
      await expectNothingLeft();
      expect(one.reached).toEqual([]);
    });

    test('at any moment of its connecting leaves nothing behind', async () => {
      for (let turns = 0; turns < 40; turns += 1) {
        const one = instance(place.url, clock);
        for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
        await one.feed.close();
        expect(one.reached).toEqual([]);
      }
      await expectNothingLeft();
    });

    test('while it waits to connect again does not try any more', async () => {
      const door = await Door.to(place.url);
      const one = instance(door.url, clock);
      await until('it was refused', () => one.reached.length > 0);
      await one.feed.close();
      await door.open();
      await expectNothingLeft();
      expect(one.reached).toEqual([false]);
      await door.shut();
    });

    test('does not wait for a server that says nothing', async () => {
      const far = new URL(SERVER);
      const proxy = await tcpProxy(Number(far.port || 5432), far.hostname);
      const url = new URL(place.url);
      url.host = `127.0.0.1:${proxy.port}`;
      const [one, two] = [instance(url.href, clock), instance(url.href, clock)];
      await acquainted(one, two);
      proxy.silence();
      const late = instance(url.href, clock);
      one.feed.tell(newChange());
      // One is told nothing of what it sent, two is idle, and late has no connection yet.
      clock.advance(10);
      await Promise.all([one.feed.close(), two.feed.close(), late.feed.close()]);
      await proxy.close();
      await expectNothingLeft();
    });

    test('neither tells nor hears, and can be closed again', async () => {
      const [one, two, three] = [instance(place.url), instance(place.url), instance(place.url)];
      await acquainted(one, two, three);
      await one.feed.close();
      one.feed.tell(newChange());
      const last = newChange();
      two.feed.tell(last);
      await until('the others still hear', () => three.hears(last));
      await one.feed.close();
      expect([one.heard, two.heard, three.heard]).toEqual([[], [], [last]]);
    });
  },
);

test.each([
  ['a host that has no address', 'postgres://postgres@nowhere.invalid/test'],
  ['a port where nobody listens', 'postgres://postgres@127.0.0.1:1/test'],
  ['a certificate that is not there', 'postgres://postgres@127.0.0.1/test?sslrootcert=/nowhere/ca.pem'],
  ['a database that does not exist', `${new URL('/nowhere', SERVER).href}`],
])('an instance opens with %s, tells nobody and can be closed', async (_, url) => {
  const one = instance(url);
  expect(one.feed.reachesOthers).toBe(true);
  one.feed.tell(newChange());
  await until('it is noticed', () => one.reached.length > 0);
  expect(one.reached).toEqual([false]);
  await one.feed.close();
});
