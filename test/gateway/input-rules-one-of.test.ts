import type { GraphqlAnswer } from '../support/gateway';
import {
  DOCUMENTS,
  make,
  redirectCall,
  validCall,
  withValue,
  type Json,
  type Mutation,
} from './fixtures/calls';
import { clear, newRig, type Rig } from './fixtures/rig';

let rig: Rig;

beforeAll(async () => {
  rig = await newRig();
});

beforeEach(() => clear(rig));

/** A GraphQL literal of a JSON value; words in capitals stand as enum values. */
function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    return `{ ${Object.entries(value)
      .map(([name, inner]) => `${name}: ${literal(inner)}`)
      .join(', ')} }`;
  }
  return typeof value === 'string' && /^[A-Z]+_?[A-Z]+$/.test(value) && value.length > 3
    ? value
    : JSON.stringify(value);
}

const inline = (mutation: Mutation, input: Json): string =>
  `mutation { ${mutation}(input: ${literal(input)}) { __typename } }`;

const ONE_OF: [Mutation, field: string, one: Json, another: Json][] = [
  ['createPayment', 'method', { redirect: 'SCHEME' }, { jazzCash: { account: '03001234567' } }],
  ['createPayout', 'method', { typeOnly: 'SCHEME' }, { jazzCash: { accountNumber: '03001234567' } }],
  ['confirmPayment', 'confirmation', { c2c: 'TRANSFER_MADE' }, { upi: { utr: '123456789012' } }],
];

const WRONG: [string, (one: Json, another: Json) => Json][] = [
  ['no arm', () => ({})],
  ['two arms', (one, another) => ({ ...one, ...another })],
  ['one arm and a null one', (one, another) => ({ ...one, [Object.keys(another)[0] ?? '']: null })],
  ['an arm that is null', (one) => ({ [Object.keys(one)[0] ?? '']: null })],
  ['an arm that does not exist', () => ({ nosuch: 'x' })],
];

const CASES = ONE_OF.flatMap(([mutation, field, one, another]) =>
  WRONG.map(([how, make]): [string, Mutation, string, Json] => [how, mutation, field, make(one, another)]),
);

function expectMisfit(
  { errors, status, data }: Pick<GraphqlAnswer<unknown>, 'errors' | 'status' | 'data'>,
  code: string,
) {
  expect(errors?.length).toBeGreaterThan(0);
  errors?.forEach(({ extensions, message }) => {
    const fields = [{ path: expect.any(Array) as unknown, rule: expect.any(String) as unknown }];
    expect(extensions).toEqual({ code, retryable: false, requestId: expect.any(String) as unknown, fields });
    expect(message).not.toMatch(/03001234567|123456789012/);
  });
  expect(status).toBe(400);
  expect(data ?? null).toBeNull();
  expect(rig.service.seen).toHaveLength(0);
}

test.each(CASES)(
  'A variable with %s in the @oneOf input of %s.%s is BAD_USER_INPUT',
  async (_how, mutation, field, arms) => {
    const { input } = withArm(mutation);
    expectMisfit(
      await rig.client.ask(DOCUMENTS[mutation], { input: { ...input, [field]: arms } }),
      'BAD_USER_INPUT',
    );
  },
);

test.each(CASES)(
  'A literal with %s in the @oneOf input of %s.%s is not valid',
  async (_how, mutation, field, arms) => {
    const { input } = withArm(mutation);
    expectMisfit(
      await rig.client.ask(inline(mutation, { ...input, [field]: arms })),
      'GRAPHQL_VALIDATION_FAILED',
    );
  },
);

test.each(ONE_OF)('A literal with one arm in %s.%s is taken', async (mutation, field, one) => {
  const { input } = withArm(mutation);
  const { errors } = await rig.client.ask(inline(mutation, { ...input, [field]: one }));
  expect(errors).toBeUndefined();
  expect(rig.service.seen).toHaveLength(1);
});

test.each([
  ['null', null],
  ['absent', undefined],
])('A variable as the arm of a literal is refused when it is %s', async (_how, account) => {
  const query = `mutation M($account: WalletAccountInput) { createPayment(input: { idempotencyKey: "k",
    channel: "7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10", amount: { currency: "PKR", value: "1" },
    method: { jazzCash: $account } }) { __typename } }`;
  const { errors, data } = await rig.client.ask(query, { account });
  expect(errors?.[0]?.extensions).toMatchObject({
    retryable: false,
    requestId: expect.any(String) as unknown,
  });
  expect(errors?.[0]?.extensions['code']).toMatch(/BAD_USER_INPUT|GRAPHQL_VALIDATION_FAILED/);
  expect(data ?? null).toBeNull();
  expect(rig.service.seen).toHaveLength(0);
});

test.each(['upi', 'c2c'])(
  'An arm of which no field is required is refused when it is empty: %s',
  async (arm) => {
    const { mutation, input } = validCall('createPayment', arm);
    for (const empty of [{}, { email: null }, { firstName: null, email: null }]) {
      const { result } = await make(rig.client, {
        mutation,
        input: withValue(input, ['method', arm], empty),
      });
      expect(result?.fields).toMatchObject([{ path: ['method', arm], rule: 'notEmpty' }]);
    }
    expect(rig.service.seen).toHaveLength(0);
  },
);

test.each(['VIRTUAL_ACCOUNT', 'EWALLET', 'DCB', 'OTHER', 'card', 'NOSUCH'])(
  'A redirect by %s is BAD_USER_INPUT: the method needs fields of its own, or does not exist',
  async (method) => {
    const { mutation, input } = redirectCall(method);
    expectMisfit(await rig.client.ask(DOCUMENTS[mutation], { input }), 'BAD_USER_INPUT');
  },
);

/** A valid input of that mutation, whatever its arm. */
function withArm(mutation: Mutation): { input: Json } {
  return validCall(
    mutation,
    { createPayment: 'jazzCash', createPayout: 'jazzCash', confirmPayment: 'upi' }[mutation],
  );
}
