import { CallerLookupSlots } from '../../src/resolvers/caller-lookup-slots';
import { ServiceError } from '../../src/datasources/payment-service/service-error';

describe('The lookup slots of a caller', () => {
  const never = () => new Promise<never>(() => undefined);

  test('limit its concurrent lookups, and not those of other callers', async () => {
    const slots = new CallerLookupSlots();
    let startedCount = 0;
    const ends: (() => void)[] = [];
    const lookUp = () => {
      startedCount += 1;
      return new Promise<void>((resolve) => ends.push(resolve));
    };
    const lookups = Array.from({ length: 200 }, () => slots.run('busy', lookUp));
    expect(startedCount).toBe(96);
    expect(await slots.run('other', async () => 'found')).toBe('found');
    while (startedCount < 200) {
      ends.shift()?.();
      await new Promise(setImmediate);
      expect(ends.length).toBeLessThanOrEqual(96);
    }
    ends.forEach((end) => end());
    await Promise.all(lookups);
  });

  test('are released by a lookup that fails', async () => {
    const slots = new CallerLookupSlots();
    const fail = () => Promise.reject(new Error('failed'));
    const lookups = Array.from({ length: 300 }, () => slots.run('caller', fail));
    expect((await Promise.allSettled(lookups)).every(({ status }) => status === 'rejected')).toBe(true);
    expect(await slots.run('caller', async () => 'found')).toBe('found');
  });

  test('refuse a lookup if 2000 others wait', async () => {
    const slots = new CallerLookupSlots();
    for (let count = 0; count < 2096; count += 1) void slots.run('caller', never);
    await expect(slots.run('caller', never)).rejects.toBeInstanceOf(ServiceError);
  });
});
