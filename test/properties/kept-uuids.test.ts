import { keptSecretFaults } from '../../src/operations/kept-secret-faults';
import { holdsSchemeNumber } from '../../src/schema/card-numbers';

const CARD = '4111111111111111';
/** Their digits hold a number of a card scheme. */
const HEX_UUID = '41111111-1111-1111-abcd-000000000000';
const DIGITS_UUID = '41111111-1111-1111-0000-000000000000';

const faultsOf = (idempotencyKey: string, secrets: string[]) =>
  keptSecretFaults({ idempotencyKey }, { arm: 'card', type: 'card', secrets });

describe('A UUID as idempotency key', () => {
  test('is accepted with a letter', () => expect(faultsOf(HEX_UUID, [])).toEqual([]));
  test('is accepted with a letter after a prefix', () =>
    expect(faultsOf(`order_${HEX_UUID}`, [])).toEqual([]));
  test('is refused without a letter when it holds a card number', () => {
    expect(holdsSchemeNumber(DIGITS_UUID)).toBe(true);
    expect(faultsOf(DIGITS_UUID, [])).toHaveLength(1);
  });
  test("is refused when it holds the request's own card number", () =>
    expect(faultsOf(HEX_UUID, [CARD])).toHaveLength(1));
});
