import { armPath, make, validCall, withValue, type Json, type Mutation } from './fixtures/calls';
import { clear, expectAcceptance, expectRefusal, newRig, type Rig } from './fixtures/rig';
import type { RuleRow } from './fixtures/rule-rows';

let rig: Rig;

beforeAll(async () => {
  rig = await newRig();
});

beforeEach(() => clear(rig));

const ARMS: [Mutation, string][] = [
  ['createPayment', 'havale'],
  ['createPayment', 'other'],
  ['createPayout', 'other'],
];

const rowOf = ([mutation, arm]: [Mutation, string], value: unknown, rule?: string): RuleRow => {
  const path = [...armPath(mutation, arm), 'fields'];
  const { input } = validCall(mutation, arm);
  return {
    title: arm,
    path,
    value,
    rules: rule ? [rule] : [],
    call: { mutation, input: withValue(input, path, value) },
  };
};

const nested = (depth: number, innermost: unknown = 'deep'): Json =>
  depth === 0 ? { value: innermost } : { inner: nested(depth - 1, innermost) };

const REFUSED: [title: string, fields: Json, rule: string][] = [
  ['a type of their own', { type: 'card' }, 'noType'],
  ['a type that is null', { type: null }, 'noType'],
  ['more than 8192 characters', { text: 'x'.repeat(8200) }, 'size'],
  ['a control character in a value', { text: 'before\u0007after' }, 'printable'],
  ['a control character in a name', { 'before\nafter': 'x' }, 'printable'],
  ['half of a surrogate pair', { list: ['lone\ud800'] }, 'printable'],
  ['ten levels', nested(10), 'printable'],
  ['a card number', { pan: '4111111111111111' }, 'noCardNumber'],
  ['a card number with spaces', { text: 'card 4111 1111 1111 1111' }, 'noCardNumber'],
  ['a card number with dashes', { text: '4111-1111-1111-1111' }, 'noCardNumber'],
  ['a card number as a JSON number', { number: 4111111111111111 }, 'noCardNumber'],
  ['a card number in a list', { list: ['a', ['4111111111111111']] }, 'noCardNumber'],
  ['a card number deep down', nested(5, '4111111111111111'), 'noCardNumber'],
  ['a card number as a name', { '4111111111111111': 'x' }, 'noCardNumber'],
  ['a card number of 19 digits', { pan: '6304000000000000000' }, 'noCardNumber'],
  ['a card number between words', { text: 'pan=4111111111111111;cvc' }, 'noCardNumber'],
  ['a card number in an IBAN that is none', { iban: 'TR56 0006 1075 2703 7774 7790 18' }, 'noCardNumber'],
  ['a card number before its expiry', { text: '4111 1111 1111 1111 12/30' }, 'noCardNumber'],
  ['a card number before its security code', { text: '4111111111111111 737' }, 'noCardNumber'],
  ['a card number behind another number', { text: 'card 1 4111 1111 1111 1111' }, 'noCardNumber'],
];

const TAKEN: [title: string, fields: Json][] = [
  ['nothing', {}],
  ['numbers, booleans, null and lists', { n: 1.5, yes: true, none: null, list: [1, 'two', { three: 3 }] }],
  ['eight levels', nested(6)],
  ['a masked card number', { card_mask: '411111******1111' }],
  ['a phone number', { phone: '+905551234567' }],
  ['a phone number with the check digit of a card number', { phone: '+628193155551' }],
  ['an identity number with the check digit of a card number', { cnic: '42101-2945182-6' }],
  ['an IBAN whose groups form a card number', { iban: 'TR56 0006 1075 2703 7774 7790 19' }],
  ['a long number without a right check digit', { account: '4111111111111112' }],
  ['almost 8192 characters', { text: 'x'.repeat(8100) }],
  ['names that JavaScript objects have', { constructor: 'a', toString: 'b', toJSON: 'c' }],
];

describe.each(ARMS)('The custom fields of %s %s', (...arm) => {
  test.each(REFUSED)('are refused with %s, and nothing is sent', (_title, fields, rule) =>
    expectRefusal(rig, rowOf(arm, fields, rule)),
  );

  test.each(TAKEN)('are sent as they are, beside type: %s', async (_title, fields) => {
    await expectAcceptance(rig, rowOf(arm, fields));
    const [sent] = rig.service.seen;
    const method = sent?.json['payment_method'] ?? sent?.json['payout_method'];
    const type = arm[0] === 'createPayout' ? 'new_method' : arm[1];
    expect(method).toEqual({ type, ...fields });
    expect(Object.keys(Object(method))[0]).toBe('type');
  });

  test.each([12, 100, 1000])(
    'are refused when they are %d levels deep, without a fault of the gateway',
    (depth) => {
      const text = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
      return expectRefusal(rig, rowOf(arm, JSON.parse(text), 'printable'));
    },
  );
});

describe('The type of a payout by "other"', () => {
  const withType = (type: string): RuleRow => {
    const path = ['method', 'other', 'type'];
    const { mutation, input } = validCall('createPayout', 'other');
    return {
      title: type,
      path,
      value: type,
      rules: ['knownMethod'],
      call: { mutation, input: withValue(input, path, type) },
    };
  };

  test.each('bank_transfer imps easy_paisa jazz_cash dcb bkash nagad rocket card scheme'.split(' '))(
    'is refused when it has an arm of its own: %s',
    async (type) => {
      const { result } = await make(rig.client, withType(type).call);
      expect(result?.fields).toMatchObject([{ path: ['method', 'other', 'type'], rule: 'knownMethod' }]);
      expect(rig.service.seen).toHaveLength(0);
    },
  );

  test.each(['other', 'qris', 'upi'])('is sent as it is when it has none: %s', async (type) => {
    await expectAcceptance(rig, withType(type));
    expect(rig.service.seen[0]?.json['payout_method']).toEqual({ type, anything: 'goes' });
  });
});
