import { openBench, type Bench } from './bench';
import type { Json } from './golden-bodies';
import { readDrawings } from './qr-image';
import { THE_LOOKUP, confirm, confirms, create, creates, leastOf, lookups, named } from './short-calls';

/** A create may be answered with status and transaction_id alone, a confirm without amount or method (spec 2.3, 4.4, 4.5). */

let bench: Bench;

beforeAll(async () => {
  bench = await openBench();
});

const amountSent = (body: Json): Json => ({ ...(body['amount'] as Json), received: null });

describe('a create that is answered with status and transaction_id alone', () => {
  test.each(creates)('is filled from the request and by one lookup: %s', async (_name, golden) => {
    const found = await create(bench, golden, {
      post: leastOf(golden.answer),
      get: { status: 200, json: golden.answer },
    });
    expect(readDrawings(found)).toStrictEqual({ ...golden.data, amount: amountSent(golden.body) });
    expect(lookups(bench)).toEqual([THE_LOOKUP]);
  });

  test.each(creates)('needs no lookup for what everybody knows: %s', async (_name, golden) => {
    const selection = `{ __typename ... on PaymentResource {
      id transactionId channel externalId method status rawStatus amount { currency value received } error { code } } }`;
    const found = await create(bench, golden, { selection, post: leastOf(golden.answer) });
    expect({ ...golden.data, amount: amountSent(golden.body) }).toMatchObject(found);
    expect(lookups(bench)).toEqual([]);
  });

  const knownFromRequest: [string, string, string][] = [
    ['card, server-to-server, required fields only', 'CardPayment', 'cardholder'],
    ['upi, server-to-server', 'UpiPayment', 'email firstName lastName phone'],
    ['dcb, server-to-server', 'DcbPayment', 'userId phone firstName lastName'],
    ['jazz_cash, server-to-server', 'JazzCashPayment', 'account'],
    ['easy_paisa, server-to-server', 'EasyPaisaPayment', 'account'],
    ['virtual_account, server-to-server', 'VirtualAccountPayment', 'bankCode accountNumber'],
    ['ewallet, redirect flow', 'EwalletPayment', 'ewallet'],
    ['c2c, server-to-server', 'C2cPayment', 'firstName surname email cardMask'],
    ['bkash, server-to-server, account in both places', 'BkashPayment', 'firstName surname phone email'],
    ['nagad, server-to-server, account in both places', 'NagadPayment', 'firstName surname phone email'],
    ['rocket, server-to-server, account in both places', 'RocketPayment', 'firstName surname phone email'],
  ];

  test.each(knownFromRequest)('needs no lookup for what the request said: %s', async (name, type, fields) => {
    const golden = named(creates, name);
    const selection = `{ ... on ${type} { ${fields} } }`;
    const found = await create(bench, golden, { selection, post: leastOf(golden.answer) });
    expect(found).toEqual(Object.fromEntries(fields.split(' ').map((field) => [field, golden.data[field]])));
    expect(lookups(bench)).toEqual([]);
  });

  const looksUp: [string, string, string][] = [
    ['card, redirect flow', 'CardPayment', 'redirectUrl'],
    ['card, redirect flow', 'CardPayment', 'createDate'],
    ['card, redirect flow', 'CardPayment', 'nextAction { ... on RedirectAction { url } }'],
    ['card, server-to-server, required fields only', 'CardPayment', 'cardMask'],
    ['upi, server-to-server', 'UpiPayment', 'state'],
    ['upi, server-to-server', 'UpiPayment', 'upiId upiLink'],
    [
      'upi, server-to-server',
      'UpiPayment',
      'state nextAction { ... on ProvideUtrAction { upiId upiLink confirmWith } }',
    ],
    ['dcb, server-to-server', 'DcbPayment', 'state'],
    ['c2c, server-to-server', 'C2cPayment', 'cardNumber recipient'],
    ['bkash, server-to-server, account in both places', 'BkashPayment', 'account'],
    ['virtual_account, server-to-server', 'VirtualAccountPayment', 'virtualAccount'],
    ['qris, server-to-server: the code is in the answer', 'QrisPayment', 'qrCode'],
    ['havale, fields as agreed', 'HavalePayment', 'fields'],
    ['other, fields beside type', 'OtherPayment', 'type fields'],
  ];

  test.each(looksUp)(
    'needs one lookup where only the service knows: %s, %s { %s }',
    async (name, type, fields) => {
      const golden = named(creates, name);
      const selection = `{ ... on ${type} { ${fields} } }`;
      const get = { status: 200, json: golden.answer };
      const found = await create(bench, golden, { selection, post: leastOf(golden.answer), get });
      expect(golden.data).toMatchObject(found);
      expect(Object.values(found)).not.toContain(null);
      expect(lookups(bench)).toEqual([THE_LOOKUP]);
    },
  );

  test('needs one lookup however often the same is asked', async () => {
    const golden = named(creates, 'card, redirect flow');
    const selection =
      '{ ... on PaymentResource { a: createDate b: createDate redirectUrl } ... on CardPayment { c: createDate } }';
    const get = { status: 200, json: golden.answer };
    const found = await create(bench, golden, { selection, post: leastOf(golden.answer), get });
    const { createDate, redirectUrl } = golden.data;
    expect(found).toEqual({ a: createDate, b: createDate, c: createDate, redirectUrl });
    expect(lookups(bench)).toEqual([THE_LOOKUP]);
  });

  test.each(['bkash', 'nagad', 'rocket'])(
    'shows the account that %s put beside payment_method, without a lookup',
    async (type) => {
      const golden = named(creates, `${type}, server-to-server, account beside payment_method only`);
      const post = { ...leastOf(golden.answer), account: golden.answer['account'] };
      const selection = `{ ... on ${String(golden.data['__typename'])} { account } }`;
      expect(await create(bench, golden, { selection, post })).toEqual({ account: golden.data['account'] });
      expect(lookups(bench)).toEqual([]);
    },
  );

  test('shows why it failed, by one lookup, where the service did not say at once', async () => {
    const golden = named(creates, 'card, redirect flow');
    const error = { code: 'DECLINED_GENERIC', message: 'No' };
    const failed = { ...golden.answer, status: 'failed', error };
    const selection =
      '{ ... on PaymentResource { status error { code message } nextAction { __typename } } }';
    const found = await create(bench, golden, {
      selection,
      post: leastOf(failed),
      get: { status: 200, json: failed },
    });
    expect(found).toEqual({ status: 'FAILED', error, nextAction: null });
    expect(lookups(bench)).toEqual([THE_LOOKUP]);
  });
});

describe('a confirm', () => {
  test.each(confirms)('needs no lookup for what its short answer says: %s', async (_name, golden) => {
    const fromAnswer = 'amount' in golden.answer ? 'amount { currency value received } createDate' : 'state';
    const selection = `{ __typename ... on ${String(golden.data['__typename'])} {
      id transactionId channel method status rawStatus error { code } ${fromAnswer}
      nextAction { __typename ... on AwaitProviderAction { pollAfterMs } } } }`;
    const found = await confirm(bench, golden, { selection, post: golden.answer });
    expect(golden.data).toMatchObject(found);
    expect(lookups(bench)).toEqual([]);
  });

  /** What the service left out of an answer that is otherwise whole, and what is then looked up. */
  const lacking: [string, string][] = [
    ['amount', 'amount { value }'],
    ['create_date', 'createDate'],
    ['payment_method', 'upiId'],
  ];

  test.each(lacking)('needs one lookup where the answer lacks only %s', async (wireName, field) => {
    const golden = named(confirms, 'upi, approval pending at the provider');
    const get = { status: 200, json: golden.lookup };
    const post = { ...golden.lookup, [wireName]: undefined };
    const found = await confirm(bench, golden, {
      selection: `{ ... on UpiPayment { ${field} } }`,
      post,
      get,
    });
    expect(golden.data).toMatchObject(found);
    expect(Object.values(found)).not.toContain(null);
    expect(lookups(bench)).toEqual([THE_LOOKUP]);
  });

  test.each(confirms)('knows that nothing is waited for once it is completed: %s', async (_name, golden) => {
    const post = { ...golden.answer, status: 'completed', payment_method: undefined };
    const selection = `{ ... on ${String(golden.data['__typename'])} { status state nextAction { __typename } } }`;
    expect(await confirm(bench, golden, { selection, post })).toEqual({
      status: 'COMPLETED',
      state: null,
      nextAction: null,
    });
    expect(lookups(bench)).toEqual([]);
  });
});
