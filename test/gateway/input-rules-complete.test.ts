import { testGateway } from '../support/gateway';
import { ARMS, type Mutation } from './fixtures/calls';
import { FORMS, PAN_FIELDS, TEXT_FIELDS } from './fixtures/rule-rows';

interface TypeRef {
  kind: string;
  name: string | null;
  ofType?: TypeRef | null;
}

interface InputType {
  name: string;
  kind: string;
  inputFields: { name: string; type: TypeRef }[] | null;
}

const INPUTS = `{ __schema { types { name kind inputFields { name type { kind name ofType { kind name ofType { kind name } } } } } } }`;

const bare = (type: TypeRef): TypeRef => (type.ofType ? bare(type.ofType) : type);

/** Scalars whose own tests are in scalars.test.ts, and enums: a value that does not fit never becomes an input. */
const FITTED =
  /^(UUID|Decimal|CurrencyCode|URL|JSONObject|RedirectPaymentMethod|TypeOnlyPayoutMethod|C2cConfirmation)$/;

/** Every leaf of the input that the scalars leave unchecked, as a dotted path. */
function leaves(types: ReadonlyMap<string, InputType>, name: string, path: string[] = []): string[] {
  return (types.get(name)?.inputFields ?? []).flatMap((field) => {
    const type = bare(field.type);
    const here = [...path, field.name];
    if (type.kind === 'INPUT_OBJECT') return leaves(types, type.name ?? '', here);
    return FITTED.test(type.name ?? '') ? [] : [here.join('.')];
  });
}

const covered = (mutation: Mutation): string[] =>
  [...TEXT_FIELDS.values(), PAN_FIELDS, ...FORMS.map(({ places }) => places)]
    .flat()
    .filter((place) => place.mutation === mutation)
    .map(({ arm, field }) => {
      const oneOf = mutation === 'confirmPayment' ? 'confirmation' : 'method';
      return arm === undefined ? field : `${oneOf}.${arm}.${field}`;
    });

test.each([
  ['createPayment', 'CreatePaymentInput'],
  ['createPayout', 'CreatePayoutInput'],
  ['confirmPayment', 'ConfirmPaymentInput'],
] as const)('Every text field of %s stands in the tables of these tests', async (mutation, input) => {
  const client = await testGateway('http://127.0.0.1:1/');
  const { data } = await client.ask<{ __schema: { types: InputType[] } }>(INPUTS);
  const types = new Map(data.__schema.types.map((type) => [type.name, type]));
  const found = leaves(types, input);
  expect(found.length).toBeGreaterThan(4);
  expect([...new Set(covered(mutation))].sort()).toEqual(found.sort());
  const oneOf = types.get(
    mutation === 'confirmPayment'
      ? 'ConfirmationInput'
      : mutation === 'createPayment'
        ? 'PaymentMethodInput'
        : 'PayoutMethodInput',
  );
  const arms =
    oneOf?.inputFields?.filter(({ type }) => bare(type).kind === 'INPUT_OBJECT').map(({ name }) => name) ??
    [];
  expect([...ARMS[mutation]].sort()).toEqual(arms.sort());
});
