import { GraphQLInputObjectType } from 'graphql';
import { paymentMethods, payoutMethods } from '../../src/schema/methods';
import { methodDefinitions } from '../../src/schema/methods/registry';
import { ECHOED_TYPES } from '../gateway/fixtures/echoing-service';
import { goldenMethods, type GoldenCreate, type GoldenPayment } from './golden-bodies';
import { schema } from './selection';

test('Each method type of the service has a golden file with its kinds (payment, payout)', () => {
  const golden = [...goldenMethods].map(([type, { payment, payout }]) => [type, !!payment, !!payout]);
  const registered = methodDefinitions.map(({ payment, payout }) => [
    (payment ?? payout)?.type,
    !!payment,
    !!payout,
  ]);
  expect(golden.sort()).toEqual(registered.sort());
});

test('The tests for leaked secrets cover each payment method', () => {
  expect(ECHOED_TYPES).toEqual(expect.arrayContaining(paymentMethods.map(({ type }) => type)));
});

const sorted = (words: readonly string[]): string[] => [...new Set(words)].sort();

/** Returns the methods that golden creates choose: "redirect CARD", or a field of the @oneOf input. */
const choicesOf = (creates: readonly GoldenCreate[] = []): string[] =>
  sorted(
    creates.flatMap(({ input }) =>
      Object.entries(input.method).map(([field, given]) =>
        typeof given === 'string' ? `${field} ${given}` : field,
      ),
    ),
  );

const COVERED = [
  ...paymentMethods.map(
    ({ type, name, inputField, paymentClass, redirectDescription, input, confirmation }) => ({
      type,
      resource: paymentClass.name,
      golden: goldenMethods.get(type)?.payment,
      choices: sorted([...(redirectDescription ? [`redirect ${name}`] : []), ...(input ? [inputField] : [])]),
      confirmations: confirmation ? [inputField] : [],
    }),
  ),
  ...payoutMethods.map(({ type, name, inputField, payoutClass, typeOnlyDescription, input }) => ({
    type,
    resource: payoutClass.name,
    golden: goldenMethods.get(type)?.payout as GoldenPayment | undefined,
    choices: sorted([...(typeOnlyDescription ? [`typeOnly ${name}`] : []), ...(input ? [inputField] : [])]),
    confirmations: [],
  })),
];

test.each(COVERED)('The golden file covers each way to create and confirm a $resource by $type', (method) => {
  const { golden, resource, choices, confirmations } = method;
  expect(choicesOf(golden?.create)).toEqual(choices);
  const confirmed = golden?.confirm?.flatMap(({ input }) => Object.keys(input.confirmation)) ?? [];
  expect(sorted(confirmed)).toEqual(confirmations);
  expect([golden?.create.length, golden?.lookup.length]).not.toContain(0);
  expect(golden?.type).toBe(resource);
});

const inputs = [
  ...paymentMethods.flatMap(({ type, inputField, input }) =>
    input ? [['payment', type, inputField] as const] : [],
  ),
  ...payoutMethods.flatMap(({ type, inputField, input }) =>
    input ? [['payout', type, inputField] as const] : [],
  ),
];

test.each(inputs)(
  'The golden file for a %s by %s sets each field of the method input at least once',
  (kind, type, field) => {
    const union = schema.getType(kind === 'payment' ? 'PaymentMethodInput' : 'PayoutMethodInput');
    const input = union instanceof GraphQLInputObjectType && union.getFields()[field]?.type;
    if (!(input instanceof GraphQLInputObjectType)) throw new Error(`${field} is no input.`);
    const given = goldenMethods
      .get(type)
      ?.[kind]?.create.map((golden) => Object(golden.input.method[field]) as object);
    expect(sorted((given ?? []).flatMap(Object.keys))).toEqual(Object.keys(input.getFields()).sort());
  },
);
