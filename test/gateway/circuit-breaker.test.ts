import { RequestFailure } from '../../src/datasources/payment-service/http/http-exchange';
import { ResiliencePolicy } from '../../src/datasources/payment-service/http/resilience';
import { systemRuntime } from '../../src/shared/runtime';

const OK = { status: 200, headers: {}, body: Buffer.alloc(0) };

/** Time in ms after which a circuit breaker that has just opened lets a probe through. */
const BREAK_MS = 1000;
/** Slots and queue of the bulkhead for payouts. */
const MAX_PAYOUTS = 32 + 2000;

test('A circuit breaker stays open if the probe could not be sent, and closes at the next probe', async () => {
  let now = 0;
  const after = () => ({ cancel: () => undefined });
  const policy = new ResiliencePolicy({ ...systemRuntime, monotonic: () => now, after });
  const timeout = new RequestFailure('timeout', false, 'DEADLINE');
  for (let count = 0; count < 10; count += 1)
    await expect(policy.run('payments', () => Promise.reject(timeout))).rejects.toBe(timeout);
  expect(policy.openFlagByBreaker()).toEqual({ timeouts: true, failures: false });
  now += BREAK_MS;
  const reservations = Array.from({ length: MAX_PAYOUTS }, (_, index) =>
    policy.reserve('payouts', `caller-${index}`, BREAK_MS),
  );
  const send = jest.fn(() => Promise.resolve(OK));
  await expect(policy.run('payouts', send)).rejects.toThrow();
  expect(send).not.toHaveBeenCalled();
  expect(policy.openFlagByBreaker().timeouts).toBe(true);
  expect(await policy.run('payments', send)).toBe(OK);
  expect(policy.openFlagByBreaker().timeouts).toBe(false);
  for (const reservation of reservations) (await reservation)();
});
