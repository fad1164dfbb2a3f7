import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CHANNEL, closeAfterTests } from '../support/gateway';
import { CLIENT_KEY as OTHER_CLIENT_KEY, clientKeysFile } from '../support/credentials';
import {
  scriptedService,
  type Reply,
  type ScriptedService,
  type SeenRequest,
} from '../support/scripted-service';
import {
  confirmPayment,
  createPayment,
  createPayout,
  lookUpPayment,
  lookUpPayout,
} from '../methods/selection';
import { TRANSACTION_ID, accepted, unused, validCall, withValue, type Json } from './fixtures/calls';
import { misplacedName, misplacedValue, type LeakCase } from './fixtures/canaries';
import {
  ECHOED_TYPES,
  brokenWith,
  declineOf,
  echoEverywhere,
  refusalsWith,
} from './fixtures/echoing-service';
import { listening, startProgram, type Program } from './fixtures/program';
import { exchange } from './fixtures/raw-http';
import {
  cardNumberSpellings,
  securityCodeSpellings,
  spellingsOf,
  writtenCardNumbers,
} from './fixtures/spellings';

// A start may have to compile first, and other tests run beside this one.
jest.setTimeout(600_000);

/** Of a payer; of a payout's recipient; of the recipient of a card-to-card transfer. */
const PAN = '5398228707871527';
const PAID_PAN = '4716108999716531';
const C2C_PAN = '5204740009900014';
const CVC = '8351';
const API_KEY = 'canary-api-key-Zw2x9Kq4';
const SECRET_KEY = 'canary-secret-key-Rt7m1Vb6';

/** Every character percent-encoded, also those that need not be. */
const percentEncoded = (text: string): string =>
  [...text].map((character) => `%${character.charCodeAt(0).toString(16)}`).join('');
// Without dashes these could pass for names.
const CLIENT_KEY = 'pgk_c4N4rYk3yOfAcl1entq7Zr9Tx2Vb5Nm8Kj1Hg4Fd6Sa';
const FINGERPRINT_KEY = 'canary-fingerprint-key-Lp3s';
const TOKEN = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.x7Qp2Lm9Vt4Zc6Rk8Yw1Hs3Jd5Gf0Ba';

const CANARIES = {
  'the card number': cardNumberSpellings(PAN),
  'the card number of a payout': cardNumberSpellings(PAID_PAN),
  'the card number of a card-to-card recipient': cardNumberSpellings(C2C_PAN),
  'the security code': securityCodeSpellings(CVC),
  'the API key': spellingsOf(API_KEY),
  'the secret key': spellingsOf(SECRET_KEY),
  'the key of the fingerprints': spellingsOf(FINGERPRINT_KEY),
  'the key of a client': spellingsOf(CLIENT_KEY),
  'the token of a client': spellingsOf(TOKEN),
};

/** What must never be seen, as callers and services may write it. */
const WRITTEN: Record<string, string> = {
  ...Object.fromEntries(
    Object.entries(writtenCardNumbers(PAN)).map(([how, text]) => [`a card number, ${how}`, text]),
  ),
  'a security code': CVC,
  'an API key': API_KEY,
  'a secret key': SECRET_KEY,
  'a client key': CLIENT_KEY,
  'a token': TOKEN,
};

/** Which canaries, in which spelling, stand in what was written. */
function found(bytes: Buffer | string): string[] {
  const text = typeof bytes === 'string' ? Buffer.from(bytes).toString('latin1') : bytes.toString('latin1');
  // Numbers of the system's that may be any number.
  const searched = text.replace(/"pid":\d+|content-length: \d+/gi, '');
  return Object.entries(CANARIES).flatMap(([canary, spellings]) =>
    spellings.filter(({ standsIn }) => standsIn(searched)).map(({ name }) => `${canary}, ${name}`),
  );
}

let service: ScriptedService;
let program: Program;
let url: string;
let folder: string;

/** How the service answers: what moves money, and lookups. */
let replyToPost: (request: SeenRequest) => Reply = accepted;
let replyToGet: (request: SeenRequest) => Reply = () => ({ status: 404, json: {} });

/** An answer about the transaction that was asked for; about a new one where one is created or found. */
const about =
  (json: Json) =>
  (request: SeenRequest): Reply => {
    const asked = request.json['id'] ?? new URLSearchParams(request.query).get('transaction_id');
    return { status: 200, json: { ...json, transaction_id: asked ?? randomUUID() } };
  };

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'paygraph-canary-'));
  closeAfterTests({ close: async () => rmSync(folder, { recursive: true, force: true }) });
  service = await scriptedService((request) =>
    request.method === 'POST' ? replyToPost(request) : replyToGet(request),
  );
  program = startProgram({
    PORT: '0',
    SERVICE_BASE_URL: service.url,
    SERVICE_API_KEY: API_KEY,
    SERVICE_SECRET_KEY: SECRET_KEY,
    SERVICE_TIMEOUT_MS: '1500',
    FINGERPRINT_KEY,
    CLIENT_KEYS_FILE: clientKeysFile({ id: 'canary', key: CLIENT_KEY }),
    DATABASE_URL: `file:${path.join(folder, 'journal.db')}`,
    AUDIT_LOG_FILE: path.join(folder, 'audit.log'),
    PAYOUT_PREFLIGHT: 'off',
    INTROSPECTION: 'on',
    RATE_LIMIT_PER_MINUTE: '0',
    MAX_EVENT_LOOP_LAG_MS: '0',
    LOG_LEVEL: 'trace',
  });
  url = await listening(program);
});

const AUTHORIZED = { authorization: `Bearer ${CLIENT_KEY}` };

/** Sends it and looks through everything that comes back. */
async function askRaw(request: LeakCase): Promise<string> {
  const answer = await exchange(url, { ...request, headers: { ...AUTHORIZED, ...request.headers } });
  expect([request.title, found(answer)]).toEqual([request.title, []]);
  return answer.toString('utf8');
}

const graphql = (title: string, query: string, variables?: object): LeakCase => ({
  title,
  body: JSON.stringify({ query, variables }),
  headers: { 'content-type': 'application/json' },
});

const AT_ONCE = 12;

/** All of them, some at a time. */
async function askAll(requests: readonly LeakCase[]): Promise<string[]> {
  const answers: string[] = [];
  const waiting = [...requests];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) answers.push(await askRaw(next));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return answers;
}

const CARD = { pan: PAN, cvc: CVC, expiryMonth: '12', expiryYear: '2099', cardholder: 'ANN PAYER' };

const cardPayment = (changes: Json = {}): Json => ({
  ...unused(),
  channel: CHANNEL,
  amount: { currency: 'EUR', value: '10.00' },
  method: { card: CARD },
  ...changes,
});

const cardPayout = (changes: Json = {}): Json => ({
  ...unused(),
  channel: CHANNEL,
  amount: { currency: 'KZT', value: '10.00' },
  method: { card: { pan: PAID_PAN } },
  ...changes,
});

const IDS = { channel: CHANNEL, transactionId: TRANSACTION_ID };

const payment = (title: string, input = cardPayment()): LeakCase =>
  graphql(title, createPayment(), { input });
const payout = (title: string, input = cardPayout()): LeakCase => graphql(title, createPayout(), { input });
const lookups = (title: string, ids = IDS): LeakCase[] => [
  graphql(`${title}, payment`, lookUpPayment(), ids),
  graphql(`${title}, payout`, lookUpPayout(), ids),
];
const confirm = (title: string, ids = IDS): LeakCase =>
  graphql(title, confirmPayment(), { input: { ...ids, confirmation: { dcb: { code: '4711' } } } });

type Row = [what: string, reply: Reply];
type Asked = 'payment' | 'payout' | 'confirm' | 'lookups';

/** Makes these calls for every reply, each with ids of its own, so that many can be under way at once. */
async function askForEach(rows: readonly Row[], asked: readonly Asked[]): Promise<string[]> {
  const replies = new Map<unknown, Reply>();
  const cases = rows.flatMap(([what, reply]) => {
    const [paid, sent, ids] = [cardPayment(), cardPayout(), { ...IDS, transactionId: randomUUID() }];
    for (const id of [paid['externalId'], sent['externalId'], ids.transactionId]) replies.set(id, reply);
    const calls: Record<Asked, LeakCase[]> = {
      payment: [payment(what, paid)],
      payout: [payout(what, sent)],
      confirm: [confirm(what, ids)],
      lookups: lookups(what, ids),
    };
    return asked.flatMap((name) => calls[name]);
  });
  replyToPost = ({ json }) => replies.get(json['external_id'] ?? json['id']) ?? accepted({ json });
  replyToGet = ({ query }) =>
    replies.get(new URLSearchParams(query).get('transaction_id')) ?? { status: 404, json: {} };
  return askAll(cases);
}

test('The search finds every canary in every spelling', () => {
  expect(found('nothing')).toEqual([]);
  expect(found(`"id":"a${CVC}b", 1${CVC}, 2.${CVC}, ****${CVC}`)).toEqual([]);
  for (const text of Object.values(WRITTEN)) {
    expect(found(`before ${text} after`)).not.toEqual([]);
    if (text === CVC) continue;
    expect(found(`"${Buffer.from(`x${text}`).toString('base64')}"`)).not.toEqual([]);
    expect(found(Buffer.from(`xy${text}z`).toString('base64'))).not.toEqual([]);
  }
  for (const text of [
    Buffer.from(PAN).toString('hex'),
    '5398_2287_0787_1527',
    '5398228707871527'.split('').join('-'),
  ]) {
    expect(found(text)).not.toEqual([]);
  }
});

describe('A card that is used as it should be', () => {
  test('reaches the service, and nothing of it the caller but what may be shown', async () => {
    service.seen.length = 0;
    const answers = await askAll([payment('a payment'), payout('a payout')]);
    expect(answers.join()).toContain('"PaymentSuccess"');
    expect(answers.join()).toContain('"cardMask":"****6531"');
    const sent = service.seen.filter(({ method }) => method === 'POST').map(({ body }) => body);
    expect(sent.join()).toContain(`"pan":"${PAN}"`);
    expect(sent.join()).toContain(`"cvc":"${CVC}"`);
    expect(sent.join()).toContain(`"pan":"${PAID_PAN}"`);
  });

  test('of a card-to-card recipient reaches a caller with the right to it, and nobody else', async () => {
    replyToGet = () => ({
      status: 200,
      json: {
        ...declineOf('c2c', 'x'),
        status: 'processing',
        error: undefined,
        payment_method: { type: 'c2c', card_number: C2C_PAN, state: 'waiting_for_confirm' },
      },
    });
    const request = graphql('c2c', lookUpPayment(), IDS);
    const mine = await exchange(url, { ...request, headers: { ...request.headers, ...AUTHORIZED } });
    expect(mine.toString()).toContain(`"cardNumber":"${C2C_PAN}"`);
    await askRaw({ ...request, headers: { ...request.headers, authorization: 'Bearer nobody' } });
  });
});

describe.each(Object.entries(WRITTEN))('Nobody sees %s again', (_name, text) => {
  test('that stands where it does not belong', async () => {
    const answers = await askAll(misplacedValue(text));
    expect(answers.length).toBeGreaterThan(40);
  });

  test('in odd parts of a request', async () => {
    const plain = text.replaceAll(' ', '%20');
    const json = { 'content-type': 'application/json' };
    const query = JSON.stringify({ query: '{ __typename }' });
    await askAll([
      { title: 'a body that is too large', body: `{"query":"${text.padEnd(200_000, text)}"}`, headers: json },
      {
        title: 'a body that is cut',
        body: `{"query":"{ __typename }","variables":{"a":"${text}`,
        headers: json,
      },
      { title: 'a length that is none', body: query, headers: { ...json, 'content-length': text } },
      { title: 'a name of a header', body: query, headers: { ...json, [text.replace(/[^\w-]/g, '-')]: '1' } },
      { title: 'a header that is none', body: query, headers: { ...json, [`${text} x`]: '1' } },
      { title: 'a value of a header that is none', body: query, headers: { ...json, x: `${text}\u0001` } },
      { title: 'an encoding', body: query, headers: { ...json, 'content-encoding': text } },
      { title: 'a transfer encoding', body: query, headers: { ...json, 'transfer-encoding': text } },
      { title: 'another host', body: query, headers: { ...json, host: plain } },
      { title: 'another origin', body: query, headers: { ...json, origin: `https://${plain}.example` } },
      { title: 'the address of a proxy', body: query, headers: { ...json, 'x-forwarded-for': text } },
      {
        title: 'credentials of another kind',
        body: query,
        headers: { ...json, authorization: `Basic ${text}` },
      },
      { title: 'credentials', body: query, headers: { ...json, authorization: `Bearer ${text}x` } },
      { title: 'a method', method: text.replace(/[^\w]/g, ''), body: query, headers: json },
      { title: 'a path', suffix: `/../${plain}`, method: 'GET' },
      { title: 'a path outside', suffix: `/%2e%2e/${plain}?a=${plain}#${plain}`, method: 'GET' },
      { title: 'a path with a blank', suffix: `/${text} x`, method: 'GET' },
      {
        title: 'a fragment of a path',
        suffix: `?extensions=${plain}&operationName=${plain}&id=${plain}`,
        method: 'GET',
      },
    ]);
  });

  test('in a lookup, an attempt or a cursor', async () => {
    replyToGet = () => ({ status: 404, json: { message: text } });
    const Q = (fields: string): string => `query ($t: String!, $i: ID!) { ${fields} }`;
    const by = `channel: "${CHANNEL}"`;
    await askAll(
      [
        `payment(${by}, externalId: $t) { __typename } payout(${by}, externalId: $t) { __typename }`,
        'attempt(idempotencyKey: $i) { idempotencyKey }',
        `attempts(${by}, after: $t) { edges { cursor } }`,
        'node(id: $i) { id }',
      ].map((fields) => graphql(fields, Q(fields), { t: text, i: text })),
    );
  });
});

describe('Card numbers in names', () => {
  test.each([`pan${PAN}`, `_${PAN.replace(/(.{4})(?=.)/g, '$1_')}`])('are not shown: %s', async (name) => {
    await askAll(misplacedName(name));
    // The caller chose it for its own answer; nobody else is to see it.
    const named = graphql(
      '',
      `query ${name}($v${name}: Boolean!) { ${name}: __typename @include(if: $v${name}) }`,
      {
        [`v${name}`]: true,
      },
    );
    await exchange(url, { ...named, headers: { ...AUTHORIZED, ...named.headers } });
  });
});

describe('Where texts are kept', () => {
  const { [`a security code`]: _code, [`an API key`]: _key, [`a secret key`]: _secret, ...others } = WRITTEN;
  const inAll = Object.entries({ ...others, 'the security code itself': CVC });
  const bank = validCall('createPayout', 'bankTransfer').input;

  test.each(inAll)('no field takes %s', async (_name, text) => {
    service.seen.length = 0;
    const fields = ['idempotencyKey', 'externalId', 'description'];
    const cases = fields.flatMap((field) => [
      payment(field, cardPayment({ [field]: text })),
      ...(text === CVC ? [] : [payout(field, cardPayout({ [field]: `no. ${text}` }))]),
    ]);
    if (text !== CVC) {
      cases.push(
        payout('bankName', withValue({ ...bank, ...unused() }, ['method', 'bankTransfer', 'bankName'], text)),
      );
      cases.push(
        payout('bankCode', withValue({ ...bank, ...unused() }, ['method', 'bankTransfer', 'bankCode'], text)),
      );
    }
    for (const answer of await askAll(cases)) expect(answer).toContain('"InvalidInputError"');
    expect(service.seen).toEqual([]);
  });

  test('a type of payout does not take a card number', async () => {
    const type = { other: { type: `pan${PAN}`, fields: { a: 'b' } } };
    expect(await askRaw(payout('a type', cardPayout({ method: type })))).toContain('"InvalidInputError"');
  });

  test.each([
    'order-20240531-0000000007',
    '4111111111111112',
    '018f3c5e-7a1b-7c3d-9e5f-0123456789ab',
    '1717146765999',
  ])('an honest name is taken: %s', async (name) => {
    replyToPost = accepted;
    const input = cardPayment({ idempotencyKey: name, externalId: name, description: `For ${name}` });
    expect(await askRaw(payment('honest', input))).toContain('"PaymentSuccess"');
  });
});

describe('The card and the credentials that the service repeats', () => {
  const OWN: Record<string, string> = {
    ...Object.fromEntries(Object.entries(writtenCardNumbers(PAN)).map(([how, text]) => [`PAN ${how}`, text])),
    'PAN with points': PAN.replace(/(.{4})(?=.)/g, '$1.'),
    'PAN digit by digit': [...PAN].join(' '),
    'PAN in base64': Buffer.from(PAN).toString('base64'),
    'PAN within digits': `00${PAN}99`,
    CVC,
    'CVC by its name': `CVV2=${CVC}`,
    'CVC digit by digit': [...CVC].join(' '),
    'API key': API_KEY,
    'secret key': SECRET_KEY,
    'secret key in hex': Buffer.from(SECRET_KEY).toString('hex'),
  };

  /** What is the gateway's own is known whatever was asked. */
  const isCredential = (text: string): boolean => /key/.test(text + Buffer.from(text, 'hex').toString());

  test.each(Object.entries(OWN))('are in no field of the answer to a create: %s', async (_how, text) => {
    for (const type of ECHOED_TYPES) {
      const echo = echoEverywhere({ type, text, paidTo: true });
      // What contradicts the question is not believed at all.
      const believed = { ...echo, amount: undefined };
      replyToPost = about(believed);
      replyToGet = about(believed);
      expect(await askRaw(payment(`${type}`))).toContain('"PaymentSuccess"');
      if (isCredential(text)) await askRaw(payout(`${type}`));
    }
  });

  test.each(Object.entries(OWN))('are in nothing that is looked up for a create: %s', async (_how, text) => {
    const now = (): string => new Date(Date.now() + 1000).toISOString().replace('Z', '+00:00');
    for (const type of ['card', 'other']) {
      const echo = {
        ...echoEverywhere({ type, text, paidTo: true }),
        amount: { currency: 'EUR', value: '10.00' },
      };
      replyToGet = (request) => about({ ...echo, create_date: now() })(request);
      replyToPost = about({ status: 'failed' });
      expect(await askRaw(payment('a short answer'))).toContain('"PaymentSuccess"');
      replyToPost = () => (_response, socket) => void socket.resetAndDestroy();
      const answer = await askRaw(payment('a lost answer'));
      if (type === 'card') expect(answer).toContain('"replayed":true');
    }
  });

  test.each(Object.entries(OWN))('are in no decline: %s', async (_how, text) => {
    replyToPost = about({ ...declineOf('card', text), amount: undefined });
    const answer = await askRaw(payment('a decline'));
    expect(answer).toContain('insufficient funds on ');
    expect(answer).toContain('"reason":"INSUFFICIENT_FUNDS"');
  });

  test.each(Object.entries(OWN))('are in no refusal and no fault: %s', async (_how, text) => {
    const asked: Asked[] = isCredential(text) ? ['payment', 'payout', 'confirm', 'lookups'] : ['payment'];
    const answers = await askForEach(refusalsWith(text), asked);
    expect(answers.filter((answer) => answer.includes('"RejectedByServiceError"')).length).toBeGreaterThan(9);
  });
});

describe('Card numbers and tokens that nobody of this request sent', () => {
  const FOREIGN = { ...writtenCardNumbers(PAID_PAN), token: TOKEN, 'client key': CLIENT_KEY };

  test.each(Object.entries(FOREIGN))('are in no free text of a lookup: %s', async (_how, text) => {
    for (const type of ECHOED_TYPES) {
      replyToGet = () => ({ status: 200, json: echoEverywhere({ type, text, paidTo: false }) });
      for (const answer of await askAll(lookups(type))) expect(answer).toContain(TRANSACTION_ID);
    }
  });

  test.each(Object.entries(FOREIGN))('are in no decline, refusal or fault: %s', async (_how, text) => {
    replyToGet = () => ({ status: 200, json: declineOf('card', text) });
    const [declined = ''] = await askAll(lookups('a decline').slice(0, 1));
    expect(declined).toContain('insufficient funds on [redacted]');
    const answers = await askForEach(refusalsWith(text), ['confirm', 'lookups']);
    expect(answers.filter((answer) => answer.includes('"BAD_USER_INPUT"')).length).toBeGreaterThan(9);
  });

  test('A number to pay to is never touched, although it may look like a card number', async () => {
    const paidTo = async (type: string, method: Json, more: Json = {}): Promise<string> => {
      replyToGet = () => ({
        status: 200,
        json: {
          ...declineOf(type, ''),
          status: 'processing',
          error: undefined,
          payment_method: { type, ...method },
          ...more,
        },
      });
      const request = graphql(type, lookUpPayment(), IDS);
      return (await exchange(url, { ...request, headers: { ...AUTHORIZED, ...request.headers } })).toString();
    };
    const number = '8808000000000007';
    const link = `upi://pay?pa=${number}@bank&am=1`;
    expect(
      await paidTo('virtual_account', {
        virtual_account: number,
        account_number: number,
        payment_data: { va: number },
      }),
    ).toContain(`"accountNumber":"${number}","virtualAccount":"${number}","paymentData":{"va":"${number}"}`);
    expect(await paidTo('upi', { upi_id: number, upi_link: link })).toContain(
      `"upiId":"${number}","upiLink":"${link}"`,
    );
    expect(await paidTo('jazz_cash', { account: number })).toContain(`"account":"${number}"`);
    expect(await paidTo('bkash', {}, { account: number })).toContain(`"account":"${number}"`);
    expect(await paidTo('qris', { qr_code: `0002${number}6304` })).toContain(`"qrCode":"0002${number}6304"`);
    expect(await paidTo('dcb', { user_id: number, phone: '919876543214' })).toContain(
      `"userId":"${number}","phone":"919876543214"`,
    );
    expect(await paidTo('other', { account: number, iban: `DE${number}0000` })).toContain(
      `"account":"${number}","iban":"DE${number}0000"`,
    );
    expect(await paidTo('card', { user_ip: '192.168.100.208' })).toContain('"userIp":"192.168.100.208"');
    const page = `https://pay.example/page/${number}?id=${number}`;
    expect(await paidTo('card', {}, { redirect_url: page, external_id: number })).toContain(
      `"redirectUrl":"${page}"`,
    );
  });

  test.each([
    ['5398228707871527', '5398********1527'],
    ['5398 2287 0787 1527', '5398********1527'],
    ['5398********1527', '5398********1527'],
    ['539822******1527', '539822******1527'],
    ['539822xxxxxx1527', '539822xxxxxx1527'],
    ['5398 2287 0787 15**', null],
    ['5398228707871*27', null],
  ])('A card mask that is sent as %s is shown as %s', async (sent, shown) => {
    for (const type of ['card', 'c2c']) {
      replyToGet = () => ({
        status: 200,
        json: { ...declineOf(type, ''), payment_method: { type, card_mask: sent } },
      });
      const answer = await askRaw(graphql(type, lookUpPayment(), IDS));
      expect(answer).toContain(`"cardMask":${JSON.stringify(shown)}`);
    }
  });

  test.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    '//pay.example/',
    'https://user:pw@pay.example/',
    'https://user@pay.example/',
    'https://@pay.example/',
    'https://pay.example/\u0001',
    'https://pay.example/ x',
    'https:\\\\pay.example',
    'pay.example',
    'intent://pay.example',
    `https://pay.example/?k=${percentEncoded(API_KEY)}`,
    `https://pay.example/?k=${percentEncoded(percentEncoded(SECRET_KEY))}`,
  ])('The page of the payer is never %j', async (page) => {
    replyToGet = () => ({
      status: 200,
      json: { ...declineOf('card', ''), status: 'pending', error: undefined, redirect_url: page },
    });
    const answer = await askRaw(graphql('a page', lookUpPayment(), IDS));
    expect(answer).toContain('"redirectUrl":null');
    expect(answer).toContain('"AwaitProviderAction"');
  });
});

test.each(Object.entries({ 'a card number': PAN, 'an API key': API_KEY, 'a secret key': SECRET_KEY }))(
  'An answer that is broken while it holds %s shows nothing of it',
  async (_name, text) => {
    const rows = brokenWith(text).flatMap((row): Row[] => [row, ['a good one', { status: 404, json: {} }]]);
    const answers = await askForEach(rows, ['payment', 'confirm', 'lookups']);
    for (const end of ['"OutcomeUnknownError"', '"SERVICE_TIMEOUT"', '"SERVICE_RESPONSE_INVALID"']) {
      expect(answers.join()).toContain(end);
    }
  },
);

test('Nothing of all that stands in any output or file of the program, while it runs and when it has ended', async () => {
  replyToPost = accepted;
  const { idempotencyKey } = unused();
  await askRaw(payment('the last one', cardPayment({ idempotencyKey })));
  const written = (): [string, Buffer][] =>
    readdirSync(folder).map((name) => [name, readFileSync(path.join(folder, name))]);
  const running = written();
  expect(running.map(([name]) => name)).toEqual(
    expect.arrayContaining(['journal.db', 'journal.db-wal', 'journal.db-shm']),
  );
  program.signal('SIGTERM');
  expect(await program.exited).toBe(0);
  const files = [...running, ...written()];
  const everything = Buffer.concat(files.map(([, bytes]) => bytes)).toString('latin1');
  expect(everything).toContain(idempotencyKey);
  expect(existsSync(path.join(folder, 'audit.log'))).toBe(true);
  expect(program.output()).toContain('a call to the service did not go well');
  expect(program.output()).toContain('"msg":"operation"');
  const leaks = [...files, ['the output', Buffer.from(program.output())] as const].flatMap(([name, bytes]) =>
    found(bytes).map((canary) => `${name}: ${canary}`),
  );
  expect([...new Set(leaks)]).toEqual([]);
  expect(everything).not.toContain(OTHER_CLIENT_KEY);
});
