import { Ledger } from '../support/payment-service/ledger';
import { INVARIANTS } from './invariants';

describe('The invariants of a chaos run', () => {
  const created = { external_id: 'x', amount: { currency: 'INR', value: '1.00' }, description: 'key' };
  const entry = { ...new Ledger().create('payment', created, 0), transactionId: 'a' };
  const row = {
    key: 'key',
    kind: 'payment',
    outcome: 'succeeded',
    transaction_id: 'a',
    external_id: 'x',
    value: '1.00',
  };
  const history = { kind: 'payment' as const, key: 'key', input: {}, ends: [], known: true };
  const success = { result: 'PaymentSuccess', transactionId: 'a', replayed: false };
  const right = {
    entries: [entry],
    attempts: [row],
    histories: [{ ...history, ends: [success] }],
    failedShutdowns: [],
  };

  const broken = (remains: Parameters<(typeof INVARIANTS)[string]>[0]): string[] =>
    Object.entries(INVARIANTS).flatMap(([name, check]) => (check(remains).length > 0 ? [name] : []));

  test('hold if ledger, journal and responses agree', () => {
    expect(broken(right)).toEqual([]);
    const unknown = { ...row, outcome: 'unknown', transaction_id: null };
    expect(broken({ ...right, entries: [], attempts: [unknown], histories: [history] })).toEqual([]);
  });

  test.each([
    ['creates at the service per key', { entries: [entry, { ...entry, transactionId: 'b' }] }],
    ['each SUCCEEDED attempt', { entries: [], histories: [] }],
    ['each SUCCEEDED attempt', { attempts: [{ ...row, value: '2.00' }] }],
    ['each transaction at the service', { attempts: [{ ...row, outcome: 'not_sent' }] }],
    ['each transaction at the service', { attempts: [] }],
    ['each transaction that lookups can find', { attempts: [{ ...row, outcome: 'unknown' }] }],
    ['callers get', { histories: [{ ...history, ends: [{ ...success, transactionId: 'b' }] }] }],
    ['callers get', { histories: [{ ...history, ends: [success, success] }] }],
    ['no valid call', { histories: [{ ...history, ends: [{ result: 'InvalidInputError' }] }] }],
  ])('report a violation: %s (%#)', (name, change) => {
    expect(broken({ ...right, ...change }).join()).toContain(name);
  });
});
