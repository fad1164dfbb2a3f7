import { randomBytes } from 'node:crypto';
import { systemClock } from '../../src/clock';
import { openChanges } from '../../src/datasources/changes/open';
import { connected, noPostgres, postgresPlace, type Place } from '../journal/support/stores';
import { acquainted, closeAll, instance, newChange, newChanges, textOf, until } from './support/feeds';

const CHANNEL = 'paygraph_changes';
const SENDER = 'a-foreign_sender';

(noPostgres ? describe.skip : describe)(
  noPostgres ? `instances (${noPostgres})` : 'instances that use one PostgreSQL',
  () => {
    let place: Place;
    beforeAll(async () => {
      place = await postgresPlace();
    });
    afterEach(closeAll);
    afterAll(() => place.drop());

    test('hear what the others tell, and not what they tell themselves', async () => {
      const [one, two, three] = [instance(place.url), instance(place.url), instance(place.url)];
      await acquainted(one, two, three);
      const [first, second, third] = [newChange(), newChange(), newChange()];
      one.feed.tell(first);
      await until('two and three heard one', () => two.hears(first) && three.hears(first));
      two.feed.tell(second);
      await until('one and three heard two', () => one.hears(second) && three.hears(second));
      three.feed.tell(third);
      await until('one and two heard three', () => one.hears(third) && two.hears(third));
      // Its own would have come before the others' answers.
      expect(one.heard).toEqual([second, third]);
      expect(two.heard).toEqual([first, third]);
      expect(three.heard).toEqual([first, second]);
    });

    test('hear all of 5,000 changes that are told at once, in their order, in few messages', async () => {
      const [one, two] = [instance(place.url), instance(place.url)];
      await acquainted(one, two);
      const changes = newChanges(5_000);
      const messages = await connected(place.url, async (client) => {
        const sizes: number[] = [];
        client.on('notification', ({ payload }) => sizes.push(payload?.length ?? 0));
        await client.query(`LISTEN ${CHANNEL}`);
        changes.forEach((change) => one.feed.tell(change));
        await until('all are heard', () => two.heard.length === changes.length && sizes.length >= 20);
        return sizes;
      });
      expect(two.heard).toEqual(changes);
      expect(messages).toEqual(Array.from({ length: 20 }, () => 16 + 250 * 30));
    });

    test('hear a change once that is told twice at once', async () => {
      const [one, two] = [instance(place.url), instance(place.url)];
      await acquainted(one, two);
      const [first, second] = [newChange(), newChange()];
      [first, second, first].forEach((change) => one.feed.tell(change));
      await until('both are heard', () => two.hears(first) && two.hears(second));
      const last = newChange();
      one.feed.tell(last);
      await until('what comes after them is heard', () => two.hears(last));
      // What was seen last is told last.
      expect(two.heard).toEqual([second, first, last]);
    });

    test('are not misled by what is no message, whoever sends it', async () => {
      const one = instance(place.url);
      const two = instance(place.url);
      await acquainted(one, two);
      const text = textOf(newChange());
      const nonsense = [
        '',
        'x',
        SENDER,
        SENDER.slice(1) + text,
        SENDER + text.slice(1),
        `${SENDER}${text}A`,
        `${SENDER}${text}\n`,
        `\n${SENDER}${text}`,
        SENDER + text + text.slice(1),
        `${SENDER}${text.slice(0, -1)}+`,
        `${SENDER}${text.slice(0, -1)}é`,
        `${SENDER}${text.slice(0, -1)}\u{1F4B8}`,
        `a foreign sender${text}`,
        JSON.stringify({ name: text.slice(0, 22), state: text.slice(22) }),
        SENDER + text.repeat(251),
        'A'.repeat(7_999),
        randomBytes(3_990).toString('latin1').replaceAll('\0', ''),
        ...Array.from({ length: 200 }, (_, at) => randomBytes(at).toString('base64url')).filter(
          ({ length }) => length < 16 || (length - 16) % 30 !== 0,
        ),
      ];
      const meant = newChange();
      await connected(place.url, async (client) => {
        for (const payload of nonsense) await client.query('SELECT pg_notify($1, $2)', [CHANNEL, payload]);
        await client.query(`NOTIFY ${CHANNEL}`);
        await client.query('SELECT pg_notify($1, $2)', [CHANNEL, SENDER + textOf(meant)]);
      });
      await until('a message is heard', () => one.hears(meant) && two.hears(meant));
      expect([one.heard, two.heard]).toEqual([[meant], [meant]]);
      await acquainted(one, two);
      expect([...one.reached, ...two.reached]).toEqual([]);
    });

    test('are not told what has not the form of a change', async () => {
      const [one, two] = [instance(place.url), instance(place.url)];
      await acquainted(one, two);
      const { name, state } = newChange();
      one.feed.tell({ name: `${name}A`, state: state.slice(1) });
      one.feed.tell({ name, state: `${state}A` });
      one.feed.tell({ name: name.replace(/.$/, '='), state });
      one.feed.tell({ name: '', state: '' });
      const meant = newChange();
      one.feed.tell(meant);
      await until('a change is heard', () => two.hears(meant));
      expect(two.heard).toEqual([meant]);
    });

    test('do not hear those that use another database of the same server', async () => {
      const elsewhere = await postgresPlace();
      try {
        const [here, neighbour] = [instance(place.url), instance(place.url)];
        const [there, other] = [instance(elsewhere.url), instance(elsewhere.url)];
        await Promise.all([acquainted(here, neighbour), acquainted(there, other)]);
        const [first, second] = [newChange(), newChange()];
        here.feed.tell(first);
        await until('the neighbour heard it', () => neighbour.hears(first));
        other.feed.tell(second);
        await until('it was heard there', () => there.hears(second));
        expect([neighbour.heard, there.heard]).toEqual([[first], [second]]);
        expect([here.heard, other.heard]).toEqual([[], []]);
      } finally {
        await closeAll();
        await elsewhere.drop();
      }
    });

    test('reach others', () => {
      expect(instance(place.url).feed.reachesOthers).toBe(true);
    });
  },
);

test('an instance with a database in a file has nobody to tell', async () => {
  const feed = openChanges({ databaseUrl: 'file:data/nothing-is-opened.db', clock: systemClock });
  expect(feed.reachesOthers).toBe(false);
  const heard = jest.fn();
  feed.onChange(heard);
  feed.tell(newChange());
  await feed.close();
  expect(heard).not.toHaveBeenCalled();
});
