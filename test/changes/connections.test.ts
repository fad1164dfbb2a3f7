import { systemClock, type Clock } from '../../src/clock';
import { AdvancingClock, frozenClock } from '../../src/sandbox/clock';
import { noPostgres, postgresPlace, SERVER, type Place } from '../journal/support/stores';
import { tcpProxy } from '../journal/support/tcp-proxy';
import { Door } from './support/door';
import {
  acquainted,
  closeAll,
  connections,
  instance,
  killConnections,
  lastAsked,
  newChange,
  newChanges,
  textOf,
  until,
} from './support/feeds';

/** The intervals of the feed: how soon others are told, an answer is missed, a connection is asked. */
const TOGETHER_MS = 10;
const ANSWER_MS = 5_000;
const CHECK_MS = 30_000;

/** A clock that a test moves, and how long the feed waits before it opens another connection. */
function recordingClock(base: Clock) {
  const clock = new AdvancingClock(base);
  const waits: number[] = [];
  const now = () => clock.now();
  const monotonic = () => clock.monotonic();
  const after: Clock['after'] = (ms, run) => {
    if (![TOGETHER_MS, ANSWER_MS, CHECK_MS].includes(ms)) waits.push(ms);
    return clock.after(ms, run);
  };
  return { clock: { now, monotonic, after }, waits, advance: (ms: number) => clock.advance(ms) };
}

(noPostgres ? describe.skip : describe)(
  noPostgres ? `a connection to PostgreSQL (${noPostgres})` : 'a connection to PostgreSQL',
  () => {
    let place: Place;
    beforeAll(async () => {
      place = await postgresPlace();
    });
    afterEach(closeAll);
    afterAll(() => place.drop());

    /** A way to the place that can fall silent. */
    const behindProxy = async () => {
      const far = new URL(SERVER);
      const proxy = await tcpProxy(Number(far.port || 5432), far.hostname);
      const url = new URL(place.url);
      url.host = `127.0.0.1:${proxy.port}`;
      return { proxy, url: url.href };
    };

    test('is one per instance, and is ended with it', async () => {
      const [one, two] = [instance(place.url), instance(place.url)];
      await acquainted(one, two);
      expect(await connections(place.url)).toHaveLength(2);
      await one.feed.close();
      await until('one has gone', async () => (await connections(place.url)).length === 1);
      await two.feed.close();
      await until('two has gone', async () => (await connections(place.url)).length === 0);
    });

    test('that is killed is opened again, as often as that happens', async () => {
      const [one, two] = [instance(place.url), instance(place.url)];
      for (let round = 1; round <= 2; round += 1) {
        await acquainted(one, two);
        await killConnections(place.url);
        await until('both noticed', () => [one, two].every(({ reached }) => reached.length > 2 * round - 2));
        await acquainted(one, two);
      }
      expect([one.reached, two.reached]).toEqual([
        [false, true, false, true],
        [false, true, false, true],
      ]);
    });

    test('that is killed is opened again, and then tells what it could not', async () => {
      const one = instance(place.url);
      await until('one is connected', async () => (await connections(place.url)).length === 1);
      const [pid] = await connections(place.url);
      const two = instance(place.url);
      await acquainted(one, two);
      await place.rows(`SELECT pg_terminate_backend(${pid})`);
      await until('one noticed', () => one.reached.length === 1);
      const changes = newChanges(1_000);
      changes.forEach((change) => one.feed.tell(change));
      await until('it is heard', () => two.hears(changes.at(-1)!));
      expect(two.heard).toEqual(changes);
      expect([one.reached, two.reached]).toEqual([[false, true], []]);
    });

    test('on which something is refused is replaced, until nothing is', async () => {
      const [one, two] = [instance(place.url), instance(place.url)];
      await acquainted(one, two);
      await place.rows('ALTER FUNCTION pg_notify(text, text) RENAME TO pg_notify_elsewhere');
      one.feed.tell(newChange());
      await until('one noticed', () => one.reached.length > 0);
      await place.rows('ALTER FUNCTION pg_notify_elsewhere(text, text) RENAME TO pg_notify');
      await acquainted(one, two);
      expect([one.reached, two.reached]).toEqual([[false, true], []]);
    });

    test('that cannot be had at the start is had later, and whoever asks is told of it once', async () => {
      const door = await Door.to(place.url);
      const [one, two] = [instance(door.url), instance(place.url)];
      const early = newChange();
      one.feed.tell(early);
      await until('it was tried', () => one.reached.length > 0);
      await door.open();
      await until('what was told early is heard', () => two.hears(early));
      await acquainted(one, two);
      expect([one.reached, two.reached]).toEqual([[false, true], []]);
      await one.feed.close();
      await door.shut();
    });

    test('that is missing keeps the last 20,000 changes for later, and no more', async () => {
      const door = await Door.to(place.url);
      const clock = new AdvancingClock(systemClock);
      const [two, three] = [instance(place.url), instance(place.url)];
      await acquainted(two, three);
      const one = instance(door.url, clock);
      await until('it was tried', () => one.reached.length > 0);
      const changes = newChanges(25_000);
      changes.forEach((change) => one.feed.tell(change));
      await door.open();
      clock.advance(1_000);
      await until('the last is heard', () => two.hears(changes[24_999]!));
      expect(two.heard).toEqual(changes.slice(5_000));
      await one.feed.close();
      await door.shut();
    });

    test('that is refused is tried less and less often, never at the same intervals', async () => {
      const { clock, waits, advance } = recordingClock(frozenClock(0));
      instance((await Door.to(place.url)).url, clock);
      for (let tries = 1; tries <= 30; tries += 1) {
        await until('it was refused', () => waits.length === tries);
        advance(waits.at(-1)!);
      }
      expect(waits[0]).toBeLessThanOrEqual(1_000);
      expect(waits[1]).toBeLessThanOrEqual(2_000);
      expect(Math.min(...waits)).toBeGreaterThanOrEqual(500);
      expect(Math.max(...waits)).toBeLessThanOrEqual(30_000);
      expect(Math.max(...waits)).toBeGreaterThan(10_000);
      expect(new Set(waits).size).toBe(waits.length);
    });

    test('that broke after it had held is opened again as soon as the first', async () => {
      const door = await Door.to(place.url);
      const { clock, waits, advance } = recordingClock(frozenClock(0));
      const one = instance(door.url, clock);
      for (let tries = 1; tries <= 10; tries += 1) {
        await until('it was refused', () => waits.length === tries);
        if (tries === 10) await door.open();
        advance(waits.at(-1)!);
      }
      await until('it is opened', () => one.reached.length === 2);
      advance(CHECK_MS);
      await door.shut();
      await until('it broke', () => one.reached.length === 3);
      expect(waits).toHaveLength(11);
      expect(waits.at(-1)).toBeLessThanOrEqual(1_000);
    });

    test('that is well is asked now and then, and kept', async () => {
      // A clock that only this moves: a check and the end of its patience must not fall due together.
      const clock = new AdvancingClock(frozenClock(0));
      const [one, two] = [instance(place.url, clock), instance(place.url, clock)];
      const bothWere = (asked: string) => async () =>
        (await lastAsked(place.url)).filter((query) => query === asked).length === 2;
      await until('both listen', bothWere('LISTEN paygraph_changes'));
      const before = await connections(place.url);
      for (let checks = 0; checks < 5; checks += 1) {
        const [first, second] = [newChange(), newChange()];
        one.feed.tell(first);
        two.feed.tell(second);
        await until('both are heard', () => {
          clock.advance(TOGETHER_MS);
          return two.hears(first) && one.hears(second);
        });
        clock.advance(CHECK_MS);
        await until('both were asked', bothWere('SELECT 1'));
      }
      expect(await connections(place.url)).toEqual(before);
      expect([...one.reached, ...two.reached]).toEqual([]);
    });

    test('that fell silent is noticed by asking, and another is opened', async () => {
      const { proxy, url } = await behindProxy();
      const clock = new AdvancingClock(systemClock);
      const [one, two] = [instance(url, clock), instance(place.url)];
      await acquainted(one, two);
      proxy.silence();
      clock.advance(CHECK_MS);
      expect(one.reached).toEqual([]);
      clock.advance(ANSWER_MS);
      await until('it is noticed', () => one.reached.length === 1);
      // What is there stays silent for ever: only a new connection helps.
      proxy.forget();
      clock.advance(1_000);
      await acquainted(one, two);
      expect(one.reached).toEqual([false, true]);
      await one.feed.close();
      await proxy.close();
    });

    test('that fell silent is noticed by telling, and loses no more than it was telling', async () => {
      const { proxy, url } = await behindProxy();
      const clock = new AdvancingClock(systemClock);
      const [one, two] = [instance(url, clock), instance(place.url)];
      await acquainted(one, two);
      proxy.silence();
      const [lost, ...later] = newChanges(3);
      for (const change of [lost!, ...later]) {
        one.feed.tell(change);
        clock.advance(TOGETHER_MS);
      }
      clock.advance(ANSWER_MS);
      await until('it is noticed', () => one.reached.length === 1);
      proxy.forget();
      clock.advance(1_000);
      await until('what it told after that is heard', () => two.hears(later[1]!));
      expect(two.heard.filter((change) => textOf(change) !== textOf(lost!))).toEqual(later);
      await one.feed.close();
      await proxy.close();
    });

    test('to a server that accepts and says nothing is given up', async () => {
      const { proxy, url } = await behindProxy();
      const clock = new AdvancingClock(systemClock);
      proxy.silence();
      const [one, two] = [instance(url, clock), instance(place.url)];
      clock.advance(ANSWER_MS - 100);
      expect(one.reached).toEqual([]);
      clock.advance(100);
      await until('it is given up', () => one.reached.length === 1);
      proxy.forget();
      clock.advance(1_000);
      await acquainted(one, two);
      await one.feed.close();
      await proxy.close();
    });
  },
);
