import { postgresAnswers, openStore, type StoreKind } from '../exactly-once/support/stores';
import { ENDS_IN_ORDER, chaos } from './chaos';
import { INVARIANTS } from './invariants';

jest.setTimeout(180_000);

const answers = postgresAnswers();
if (!answers) console.warn('SKIPPED: chaos against PostgreSQL. None answers at TEST_DATABASE_URL.');
const KINDS: StoreKind[] = answers ? ['SQLite', 'PostgreSQL'] : ['SQLite'];

/** What `npm run chaos` does for a minute, for a few seconds. */
test.each(KINDS)('After calls, faults and kills at random the balance is right (%s)', async (kind) => {
  const store = await openStore(kind);
  try {
    const report = await chaos({
      seed: 20261121,
      store,
      // Long enough beside an accident that freezes the gateway.
      trafficMs: 8000,
      restMs: 20_000,
      callers: 16,
      accidentMs: 1500,
    });
    const nothing = [...Object.keys(INVARIANTS), ENDS_IN_ORDER].map((name) => [name, []]);
    expect(report.violations).toEqual(Object.fromEntries(nothing));
    expect(Number(report.figures['created at the service'])).toBeGreaterThan(20);
    expect(report.figures['accidents']).not.toBe('none');
  } finally {
    await store.drop();
  }
});

describe('An invariant', () => {
  const entry = {
    kind: 'payment' as const,
    transactionId: 'a',
    channel: 'c',
    externalId: 'x',
    amount: { currency: 'INR', value: '1.00' },
    method: {},
    description: 'key',
    status: 'pending',
    state: null,
    createdAt: 0,
    visibleAt: 0,
    hiddenLookups: 0,
    confirms: 0,
  };
  const row = {
    key: 'key',
    kind: 'payment',
    outcome: 'succeeded',
    transaction_id: 'a',
    external_id: 'x',
    value: '1.00',
  };
  const told = { kind: 'payment' as const, key: 'key', over: {}, ends: [], known: true };
  const success = { result: 'PaymentSuccess', transactionId: 'a', replayed: false };
  const right = { entries: [entry], attempts: [row], told: [{ ...told, ends: [success] }] };

  const broken = (remains: Parameters<(typeof INVARIANTS)[string]>[0]): string[] =>
    Object.entries(INVARIANTS).flatMap(([name, check]) => (check(remains).length > 0 ? [name] : []));

  test('holds where all is right', () => {
    expect(broken(right)).toEqual([]);
    const unknown = { ...row, outcome: 'unknown', transaction_id: null };
    expect(broken({ ...right, entries: [], attempts: [unknown], told: [told] })).toEqual([]);
  });

  test.each([
    ['creates at the service per key', { entries: [entry, { ...entry, transactionId: 'b' }] }],
    ['what is SUCCEEDED', { entries: [], told: [] }],
    ['what is SUCCEEDED', { attempts: [{ ...row, value: '2.00' }] }],
    ['what exists', { attempts: [{ ...row, outcome: 'not_sent' }] }],
    ['what exists', { attempts: [] }],
    ['what can be found', { attempts: [{ ...row, outcome: 'unknown' }] }],
    ['callers hear', { told: [{ ...told, ends: [{ ...success, transactionId: 'b' }] }] }],
    ['callers hear', { told: [{ ...told, ends: [success, success] }] }],
    ['nobody hears', { told: [{ ...told, ends: [{ result: 'InvalidInputError' }] }] }],
  ])('is seen to be broken: %s (%#)', (name, change) => {
    expect(broken({ ...right, ...change }).join()).toContain(name);
  });
});
