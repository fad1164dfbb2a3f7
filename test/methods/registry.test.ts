import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { GraphQLEnumType, GraphQLInputObjectType, GraphQLUnionType } from 'graphql';
import { paymentMethods, payoutMethods } from '../../src/schema/methods';
import { registry } from '../../src/schema/methods/registry';
import type {
  MethodDefinition,
  PaymentMethodDefinition,
  PayoutMethodDefinition,
} from '../../src/schema/methods/method-definition';
import { goldenMethods, type GoldenCreate, type GoldenPayment } from './golden-bodies';
import { schema } from './selection';

/** A method is one definition, one line of the registry and its golden bodies; the schema follows the registry. */

const FOLDER = join(__dirname, '../../src/schema/methods');

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;

/** Recognises definitions by their shape, to find unregistered ones. */
const isDefinition = (value: unknown): value is MethodDefinition =>
  isObject(value) &&
  [value['payment'], value['payout']].some(
    (side) => isObject(side) && typeof side['type'] === 'string' && 'name' in side,
  );

const files = readdirSync(FOLDER).filter((file) => file.endsWith('.ts') && file !== 'registry.ts');

const definitionsOf = async (file: string): Promise<MethodDefinition[]> => {
  const exported = (await import(join(FOLDER, file))) as Record<string, unknown>;
  return Object.values(exported).filter(isDefinition);
};

const typeOf = ({ payment, payout }: MethodDefinition): string | undefined => (payment ?? payout)?.type;

test.each(files)('Every method definition that %s exports is in the registry', async (file) => {
  const unregistered = (await definitionsOf(file)).filter((definition) => !registry.includes(definition));
  expect(unregistered.map(typeOf)).toEqual([]);
});

test('Every method of the registry has its own file, named after its wire type', async () => {
  const homes = await Promise.all(
    files.map(async (file) =>
      (await definitionsOf(file)).map((definition) => `${typeOf(definition)} in ${file}`),
    ),
  );
  const expected = registry.map(
    (definition) => `${typeOf(definition)} in ${typeOf(definition)?.replaceAll('_', '-')}.ts`,
  );
  expect(homes.flat().sort()).toEqual(expected.sort());
});

const sides: [string, readonly (PaymentMethodDefinition | PayoutMethodDefinition)[]][] = [
  ['payments', paymentMethods],
  ['payouts', payoutMethods],
];

test.each(sides)(
  'No two methods of %s share a wire type, a name, an input field or a schema type',
  (_side, all) => {
    const classes = [
      ...paymentMethods.map(({ payment }) => payment),
      ...payoutMethods.map(({ payout }) => payout),
    ];
    const inputFields = all.flatMap(({ input }) => input?.field ?? []);
    for (const words of [
      all.map(({ type }) => type),
      all.map(({ name }) => name),
      inputFields,
      classes.map(({ name }) => name),
    ]) {
      expect(words).toEqual([...new Set(words)]);
    }
  },
);

test('The payment and the payout of a method have the same wire type', () => {
  const both = registry.flatMap(({ payment, payout }) => (payment && payout ? [{ payment, payout }] : []));
  expect(both.length).toBeGreaterThan(0);
  expect(both.map(({ payment }) => [payment.type, payment.name])).toEqual(
    both.map(({ payout }) => [payout.type, payout.name]),
  );
});

test('Exactly one method of each kind handles unknown types', () => {
  expect(sides.map(([, all]) => all.filter(({ fallback }) => fallback).map(({ type }) => type))).toEqual([
    ['other'],
    ['other'],
  ]);
});

const membersOf = (name: string): string[] => {
  const type = schema.getType(name);
  if (type instanceof GraphQLUnionType) return type.getTypes().map((member) => member.name);
  if (type instanceof GraphQLEnumType) return type.getValues().map((value) => value.name);
  if (type instanceof GraphQLInputObjectType) return Object.keys(type.getFields());
  throw new Error(`${name} lists nothing.`);
};

const listed: [string, string[]][] = [
  ['Payment', paymentMethods.map(({ payment }) => payment.name)],
  ['Payout', payoutMethods.map(({ payout }) => payout.name)],
  ['PaymentMethod', paymentMethods.map(({ name }) => name)],
  ['PayoutMethod', payoutMethods.map(({ name }) => name)],
  ['RedirectPaymentMethod', paymentMethods.flatMap(({ name, redirect }) => (redirect ? [name] : []))],
  ['TypeOnlyPayoutMethod', payoutMethods.flatMap(({ name, typeOnly }) => (typeOnly ? [name] : []))],
  ['PaymentMethodInput', ['redirect', ...paymentMethods.flatMap(({ input }) => input?.field ?? [])]],
  ['PayoutMethodInput', ['typeOnly', ...payoutMethods.flatMap(({ input }) => input?.field ?? [])]],
  ['ConfirmationInput', paymentMethods.flatMap(({ confirmation }) => confirmation?.field ?? [])],
  ['ConfirmationField', paymentMethods.flatMap(({ confirmation }) => confirmation?.field ?? [])],
];

test.each(listed)('The schema type %s lists exactly the methods of the registry', (name, expected) => {
  expect(membersOf(name).sort()).toEqual(expected.sort());
});

test('Each wire type has a golden file with its kinds (payment, payout)', () => {
  const sidesOf = (method: { payment?: unknown; payout?: unknown }): string =>
    [method.payment ? 'payment' : '', method.payout ? 'payout' : ''].join(' ').trim();
  const golden = [...goldenMethods].map(([type, method]) => [type, sidesOf(method)]);
  const registered = registry.map((definition) => [typeOf(definition), sidesOf(definition)]);
  expect(golden.sort()).toEqual(registered.sort());
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
  ...paymentMethods.map(({ type, name, payment, redirect, input, confirmation }) => ({
    type,
    resource: payment.name,
    golden: goldenMethods.get(type)?.payment,
    choices: sorted([...(redirect ? [`redirect ${name}`] : []), ...(input ? [input.field] : [])]),
    confirmations: confirmation ? [confirmation.field] : [],
  })),
  ...payoutMethods.map(({ type, name, payout, typeOnly, input }) => ({
    type,
    resource: payout.name,
    golden: goldenMethods.get(type)?.payout as GoldenPayment | undefined,
    choices: sorted([...(typeOnly ? [`typeOnly ${name}`] : []), ...(input ? [input.field] : [])]),
    confirmations: [],
  })),
];

test.each(COVERED)('Golden bodies cover every way to create and confirm a $resource by $type', (method) => {
  const { golden, resource, choices, confirmations } = method;
  expect(choicesOf(golden?.create)).toEqual(choices);
  const confirmed = golden?.confirm?.flatMap(({ input }) => Object.keys(input.confirmation)) ?? [];
  expect(sorted(confirmed)).toEqual(confirmations);
  expect([golden?.create.length, golden?.lookup.length]).not.toContain(0);
  expect(golden?.type).toBe(resource);
});

const inputs = [
  ...paymentMethods.flatMap(({ type, input }) => (input ? [['payment', type, input.field] as const] : [])),
  ...payoutMethods.flatMap(({ type, input }) => (input ? [['payout', type, input.field] as const] : [])),
];

test.each(inputs)(
  'Golden bodies of every %s by %s set each field of its input at least once',
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
