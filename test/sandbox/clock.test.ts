import { AdvancingClock, frozenClock, systemClock } from '../../src/sandbox/clock';

test('timers go off in the order in which they fall due, each at its own time', () => {
  const clock = new AdvancingClock(frozenClock(1000));
  const seen: [string, number][] = [];
  const note = (name: string) => () => void seen.push([name, clock.now()]);
  clock.after(30, note('late'));
  clock.after(10, () => {
    note('early')();
    clock.after(5, note('set meanwhile'));
    clock.after(500, note('not yet'));
  });
  const cancelled = clock.after(20, note('cancelled'));
  cancelled.cancel();
  expect(clock.advance(100)).toBe(3);
  expect(seen).toContainEqual(['early', 1010]);
  expect(seen).toContainEqual(['late', 1030]);
  expect(seen.map(([name]) => name).sort()).toEqual(['early', 'late', 'set meanwhile']);
  expect(clock.now()).toBe(1100);
});

test('a clock over a clock moves with it and can be ahead', () => {
  const below = new AdvancingClock(frozenClock(0));
  const above = new AdvancingClock(below);
  const seen: number[] = [];
  above.after(100, () => void seen.push(above.now()));
  above.after(200, () => void seen.push(above.now()));
  expect(above.advance(60)).toBe(0);
  below.advance(40);
  expect(seen).toEqual([100]);
  above.unshift();
  expect(above.now()).toBe(40);
  below.advance(159);
  expect(seen).toEqual([100]);
  below.advance(1);
  expect(seen).toEqual([100, 200]);
});

test('a stopped clock lets nothing go off', () => {
  const clock = new AdvancingClock(frozenClock(0));
  clock.after(1, () => {
    throw new Error('went off');
  });
  clock.stop();
  expect(clock.advance(10)).toBe(0);
});

test('the real time brings timers as well, and takes them back', async () => {
  const clock = new AdvancingClock(systemClock);
  clock
    .after(0, () => {
      throw new Error('went off');
    })
    .cancel();
  await new Promise<void>((resolve) => clock.after(0, resolve));
  expect(Math.abs(clock.now() - Date.now())).toBeLessThan(1000);
});
