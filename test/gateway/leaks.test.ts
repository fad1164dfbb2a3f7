import { accepted, make, validCall, withValue, type Json } from './fixtures/calls';
import {
  CANARIES,
  CANARY_KEYS,
  NAME_CANARIES,
  expectNoLeak,
  misplacedName,
  misplacedValue,
  type LeakCase,
} from './fixtures/canaries';
import { expectErrors, raw, type RawResult } from './fixtures/raw';
import { clear, newRig, type Rig } from './fixtures/rig';

let rig: Rig;

beforeAll(async () => {
  // A lost answer is searched for during most of this time.
  rig = await newRig({ ...CANARY_KEYS, SERVICE_TIMEOUT_MS: '300' });
});

beforeEach(() => clear(rig));

async function ask({ suffix = '', method = 'POST', body, headers }: LeakCase): Promise<RawResult> {
  const init = { method, ...(headers && { headers }), ...(body !== undefined && { body }) };
  return raw(rig.client.url + suffix, init);
}

/** The whole answer: its head too. */
const whole = ({ text, headers }: RawResult): string => JSON.stringify([...headers]) + text;

describe.each(Object.entries(CANARIES))('Nobody sees %s again', (_name, secret) => {
  test.each(misplacedValue(secret).map((one): [string, LeakCase] => [one.title, one]))(
    'in %s',
    async (_title, one) => {
      const answer = await ask(one);
      expectNoLeak(whole(answer));
      expectNoLeak(rig.logLines.join(''));
      expect(answer.status).toBeLessThan(500);
      if (answer.errors) expectErrors(answer, /^(?!INTERNAL)/);
    },
  );
});

describe.each(NAME_CANARIES)('Nobody sees the card number in %s again', (name) => {
  test.each(misplacedName(name).map((one): [string, LeakCase] => [one.title, one]))(
    'as %s',
    async (_title, one) => {
      const answer = await ask(one);
      expectNoLeak(whole(answer));
      expectNoLeak(rig.logLines.join(''));
      expectErrors(answer, /^(GRAPHQL_VALIDATION_FAILED|BAD_USER_INPUT|OPERATION_RESOLUTION_FAILURE)$/);
    },
  );

  test('in the log, where it names an operation that would succeed', async () => {
    const query = `query ${name} { ${name}: __typename }`;
    const { status } = await ask({
      title: '',
      body: JSON.stringify({ query }),
      headers: { 'content-type': 'application/json' },
    });
    expect(status).toBe(400);
    expectNoLeak(rig.logLines.join(''));
  });
});

describe('A card that is used as it should be', () => {
  const CARD = { pan: '5555 5555 5555 4444', cvc: '0864', cardholder: 'CANARY HOLDERSON' };
  const newInput = (): Json =>
    Object.entries(CARD).reduce(
      (soFar, [field, value]) => withValue(soFar, ['method', 'card', field], value),
      validCall('createPayment', 'card').input,
    );

  test.each([
    ['the service takes it', 201, undefined],
    ['the service refuses it', 400, { message: 'no' }],
    ['the service refuses it and repeats the card number', 400, { message: 'pan 5555555555554444 is wrong' }],
    [
      'the service repeats the card number as the caller wrote it',
      422,
      { errors: { pan: ['5555 5555 5555 4444'] } },
    ],
    [
      'the service repeats the card number beside the year',
      400,
      { message: 'card 5555 5555 5555 4444 12/2099 is wrong' },
    ],
    ['the service repeats the security code', 400, { errors: { cvc: ['0864 is wrong'] } }],
    [
      'the service repeats the API key',
      400,
      { message: `key ${CANARY_KEYS.SERVICE_API_KEY} may not do that` },
    ],
    ['the service fails', 500, { message: '5555555555554444' }],
    ['the service refuses the credentials', 401, { message: CANARY_KEYS.SERVICE_API_KEY }],
    ['the service answers nonsense', 201, { pan: '5555555555554444', cvc: '0864' }],
  ])('is seen by the service alone when %s', async (_how, status, answer) => {
    rig.service.answer((request) => (answer ? { status, json: answer } : accepted(request)));
    const { text } = await make(rig.client, { mutation: 'createPayment', input: newInput() });
    expectNoLeak(text);
    expectNoLeak(rig.logLines.join(''));
    const sent = rig.service.seen.filter(({ method }) => method === 'POST');
    expect(sent).toHaveLength(1);
    expect(sent[0]?.json['payment_method']).toMatchObject({ pan: '5555555555554444', cvc: '0864' });
  });

  test('shows no more than the last four digits of a payout card, and none of the wallets', async () => {
    rig.service.answer(accepted);
    const { input: payout } = validCall('createPayout', 'card');
    const query = `mutation M($input: CreatePayoutInput!) { createPayout(input: $input) { ... on PayoutSuccess { payout {
      ... on CardPayout { cardMask } ... on JazzCashPayout { accountMask } } } } }`;
    const cardAnswer = await rig.client.ask(query, {
      input: withValue(payout, ['method', 'card', 'pan'], '5555-5555-5555-4444'),
    });
    expect(cardAnswer.data).toEqual({ createPayout: { payout: { cardMask: '****4444' } } });
    const wallet = validCall('createPayout', 'jazzCash').input;
    const walletAnswer = await rig.client.ask(query, {
      input: withValue(wallet, ['method', 'jazzCash', 'accountNumber'], '12345678'),
    });
    expect(walletAnswer.data).toEqual({ createPayout: { payout: { accountMask: '****' } } });
  });
});

test('The credentials of the gateway appear in no answer and no log line, whatever is asked', async () => {
  const fields =
    '{ __schema { types { name description fields { name description args { defaultValue } } } } }';
  const { text } = await rig.client.ask(fields);
  expectNoLeak(text);
  expectNoLeak(rig.logLines.join(''));
});
