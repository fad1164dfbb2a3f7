import fc from 'fast-check';
import { GraphQLInputObjectType } from 'graphql';
import { gatewaySchema } from '../../src/resolvers';
import { snakeCase, toWireFields } from '../../src/schema/wire';

/** The names of the fields of every input that callers can give, from the schema itself. */
const inputs = Object.values(gatewaySchema().getTypeMap())
  .filter((type) => type instanceof GraphQLInputObjectType)
  .map((type): [string, string[]] => [type.name, Object.keys(type.getFields())]);

const camelCase = (wire: string): string =>
  wire
    .split('_')
    .map((word, place) => (place === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join('');

test('there are inputs to look at', () => {
  expect(inputs.map(([name]) => name)).toEqual(
    expect.arrayContaining(['CreatePaymentInput', 'CardPaymentInput', 'BankTransferPayoutInput']),
  );
});

describe.each(inputs)('%s', (_input, names) => {
  test('every field has a wire name of its own, of lower-case words, that leads back to it', () => {
    const wireNames = names.map(snakeCase);
    wireNames.forEach((wireName) => expect(wireName).toMatch(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/));
    expect(wireNames.map(camelCase)).toEqual(names);
    expect(new Set(wireNames).size).toBe(names.length);
  });

  test('whatever is given is sent unchanged under its wire name, and what is not given is not sent', () => {
    const given = fc.dictionary(fc.constantFrom(...names), fc.anything());
    fc.assert(
      fc.property(given, (input) => {
        const sent = toWireFields(input);
        const expected = names.filter((name) => Object.hasOwn(input, name) && (input[name] ?? null) !== null);
        expect(Object.keys(sent).map(camelCase).sort()).toEqual([...expected].sort());
        expected.forEach((name) => expect(Object.is(sent[snakeCase(name)], input[name])).toBe(true));
      }),
      { numRuns: 50 },
    );
  });
});

test.each([
  ['pan', 'pan'],
  ['expiryMonth', 'expiry_month'],
  ['countryCode', 'country_code'],
  ['userId', 'user_id'],
  ['cardMask', 'card_mask'],
  ['returnUrl', 'return_url'],
])('%s is %s on the wire', (name, wireName) => {
  expect(snakeCase(name)).toBe(wireName);
});
