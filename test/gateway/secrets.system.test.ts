import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../support/cleanup';
import { until } from '../support/latch';
import { CHANNEL, testService } from '../support/gateway';
import { CLIENT_KEY as OTHER_CLIENT_KEY, clientKeysFile } from '../support/credentials';
import type {
  FakePaymentService,
  ReceivedRequest,
  Reply,
} from '../support/payment-service/fake-payment-service';
import {
  confirmPayment,
  createPayment,
  createPayout,
  lookUpPayment,
  lookUpPayout,
} from '../methods/selection';
import { TRANSACTION_ID, accepted, newIds, validCall, withValue, type Json } from '../support/calls';
import {
  ECHOED_TYPES,
  brokenWith,
  declineOf,
  echoEverywhere,
  refusalsWith,
} from './fixtures/echoing-service';
import { listening, startWithSlowJournal, type ChildProgram } from '../support/program';
import { Wire, requestText } from '../support/wire';
import {
  cardNumberSpellings,
  securityCodeSpellings,
  spellingsOf,
  writtenCardNumbers,
} from './fixtures/spellings';

/** Card numbers of a payer, a payout's recipient, and the recipient of a card-to-card transfer. */
const PAN = '5398228707871527';
const PAID_PAN = '4716108999716531';
const C2C_PAN = '5204740009900014';
const CVC = '8351';
const CARDHOLDER = 'CANARY HOLDERSON';
const API_KEY = 'canary-api-key-Zw2x9Kq4';
const SECRET_KEY = 'canary-secret-key-Rt7m1Vb6';

// Without dashes, so that it is also a valid GraphQL name.
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
  'the cardholder': spellingsOf(CARDHOLDER),
};

const { plain: PLAIN_PAN = PAN, spaced: SPACED_PAN = PAN } = writtenCardNumbers(PAN);

/** Secrets that must never be shown; test/properties covers further spellings. */
const SECRETS = {
  'a card number': PLAIN_PAN,
  'a card number with blanks': SPACED_PAN,
  'a security code': CVC,
  'an API key': API_KEY,
  'a client key': CLIENT_KEY,
  'a token': TOKEN,
};

/** Returns the canaries in a Latin-1 text, each with its spelling. test/deliberate-bugs/redaction.mjs tests it. */
function found(text: string): string[] {
  // These numbers may contain the security code by chance.
  const searched = text.replace(/"pid":\d+|content-length: \d+/gi, '');
  return Object.entries(CANARIES).flatMap(([canary, spellings]) =>
    spellings.filter(({ standsIn }) => standsIn(searched)).map(({ name }) => `${canary}, ${name}`),
  );
}

let service: FakePaymentService;
let program: ChildProgram;
let url: string;
let folder: string;

/** The responses of the service to creates and confirms, and to lookups. */
let replyToPost: (request: ReceivedRequest) => Reply = accepted;
let replyToGet: (request: ReceivedRequest) => Reply = () => ({ status: 404, json: {} });

/** Returns a reply to a lookup: a payment of this type that has not ended, with these fields. */
const openPayment = (type: string, fields: Json) => (): Reply => ({
  status: 200,
  json: { ...declineOf(type, ''), status: 'processing', error: undefined, ...fields },
});

/** Returns a reply about the transaction of the request, or about a new one. */
const responseAbout =
  (json: Json) =>
  (request: ReceivedRequest): Reply => {
    const sent = request.json['id'] ?? new URLSearchParams(request.query).get('transaction_id');
    return { status: 200, json: { ...json, transaction_id: sent ?? randomUUID() } };
  };

beforeAll(async () => {
  folder = temporaryFolder();
  service = await testService((request) =>
    request.method === 'POST' ? replyToPost(request) : replyToGet(request),
  );
  program = startWithSlowJournal({
    PORT: '0',
    SERVICE_BASE_URL: service.url,
    SERVICE_API_KEY: API_KEY,
    SERVICE_SECRET_KEY: SECRET_KEY,
    SERVICE_TIMEOUT_MS: '1000',
    FINGERPRINT_KEY,
    CLIENT_KEYS_FILE: clientKeysFile({ id: 'canary', key: CLIENT_KEY }),
    DATABASE_URL: `file:${path.join(folder, 'journal.db')}`,
    AUDIT_LOG_FILE: path.join(folder, 'audit.log'),
    PAYOUT_PREFLIGHT: 'off',
    FOLLOW_DAYS: '0',
    INTROSPECTION: 'on',
    RATE_LIMIT_PER_MINUTE: '0',
    MAX_EVENT_LOOP_LAG_MS: '0',
    LOG_LEVEL: 'trace',
  });
  url = await listening(program);
});

const AUTHORIZED = { authorization: `Bearer ${CLIENT_KEY}` };
const JSON_TYPE = { 'content-type': 'application/json' };

interface LeakCase {
  /** Rest of the path after /graphql, and the query string. */
  suffix?: string;
  method?: string;
  body?: string;
  headers?: Record<string, string>;
}

/** Sends a request byte for byte, and returns all received bytes. */
async function exchange({ suffix = '', method = 'POST', body, headers }: LeakCase): Promise<string> {
  const bytes = Buffer.from(body ?? '').toString('latin1');
  const lines = Object.entries({
    host: new URL(url).host,
    connection: 'close',
    ...(body !== undefined && { 'content-length': String(bytes.length) }),
    ...AUTHORIZED,
    ...headers,
  }).map(([name, value]) => `${name}: ${value}`);
  const wire = await Wire.open(url);
  wire.write(requestText(`${method} /graphql${suffix} HTTP/1.1`, lines, bytes));
  await wire.end();
  return wire.received;
}

function expectNoInternalError(response: string): void {
  expect(Number(/^HTTP\/1\.1 (\d+)/.exec(response)?.[1])).toBeLessThan(500);
  expect(response).not.toContain('"INTERNAL');
}

const json = (body: unknown, headers = {}): LeakCase => ({
  body: JSON.stringify(body),
  headers: { ...JSON_TYPE, ...headers },
});

const graphql = (query: string, variables?: object): LeakCase => json({ query, variables });

const AT_ONCE = 12;

/** Sends requests concurrently. Expects a response without secrets to each. */
async function sendAll(requests: readonly LeakCase[]): Promise<string[]> {
  const responses: string[] = [];
  for (let place = 0; place < requests.length; place += AT_ONCE)
    responses.push(...(await Promise.all(requests.slice(place, place + AT_ONCE).map(exchange))));
  expect(requests.filter((_, place) => responses[place] === '')).toEqual([]);
  // One search of all responses is faster than a search of each.
  if (found(responses.join('\n')).length > 0)
    expect(requests.map((request, place) => [request, found(responses[place] ?? '')])).toEqual(
      requests.map((request) => [request, []]),
    );
  return responses;
}

const send = async (request: LeakCase): Promise<string> => (await sendAll([request]))[0] ?? '';

const cardPayment = (changes: Json = {}): Json => ({
  ...validCall('createPayment', 'card').input,
  method: { card: { pan: PAN, cvc: CVC, expiryMonth: '12', expiryYear: '2099', cardholder: 'ANN PAYER' } },
  ...changes,
});

const cardPayout = (changes: Json = {}): Json => ({
  ...validCall('createPayout', 'card').input,
  method: { card: { pan: PAID_PAN } },
  ...changes,
});

const IDS = { channel: CHANNEL, transactionId: TRANSACTION_ID };

const payment = (input = cardPayment()): LeakCase => graphql(createPayment(), { input });
const payout = (input = cardPayout()): LeakCase => graphql(createPayout(), { input });
const lookups = (ids = IDS): LeakCase[] =>
  [lookUpPayment(), lookUpPayout()].map((query) => graphql(query, ids));
const confirm = (ids = IDS): LeakCase =>
  graphql(confirmPayment(), { input: { ...ids, confirmation: { dcb: { code: '4711' } } } });

type CallName = 'payment' | 'payout' | 'confirm' | 'lookups';

/** Makes these calls once for each reply, with new ids, so that many can be in flight. */
async function sendForEach(
  rows: readonly (readonly [what: string, reply: Reply])[],
  names: readonly CallName[],
): Promise<string[]> {
  const replies = new Map<unknown, Reply>();
  const cases = rows.flatMap(([, reply]) => {
    const [paid, sent, ids] = [cardPayment(), cardPayout(), { ...IDS, transactionId: randomUUID() }];
    for (const id of [paid['externalId'], sent['externalId'], ids.transactionId]) replies.set(id, reply);
    const calls: Record<CallName, LeakCase[]> = {
      payment: [payment(paid)],
      payout: [payout(sent)],
      confirm: [confirm(ids)],
      lookups: lookups(ids),
    };
    return names.flatMap((name) => calls[name]);
  });
  replyToPost = ({ json }) => replies.get(json['external_id'] ?? json['id']) ?? accepted({ json });
  replyToGet = ({ query }) =>
    replies.get(new URLSearchParams(query).get('transaction_id')) ?? { status: 404, json: {} };
  return sendAll(cases);
}

const LOOKUP = 'query Q($c: UUID!) { payment(channel: $c, externalId: "o") { __typename } }';

/** Returns requests with the secret in place of other values; test/properties/messages.test.ts has more of them. */
function misplacedValue(secret: string): LeakCase[] {
  const [quoted, escaped] = [JSON.stringify(secret), encodeURIComponent(secret)];
  const lookup = { query: LOOKUP, variables: { c: secret } };
  const bodies: unknown[] = [
    { query: LOOKUP, variables: { c: CHANNEL, [secret]: secret } },
    { query: createPayment(), variables: { input: cardPayment({ nosuch: secret, [secret]: 'x' }) } },
    { query: `{ payment(channel: "\\q${secret}") { __typename } }` },
    { query: secret },
    { query: `# ${secret}\n{ nosuch }` },
    { query: '{ __typename }', operationName: secret },
    { query: '{ __typename }', variables: secret },
    { query: '{ __typename }', variables: `{"pan": ${quoted}` },
    { extensions: { persistedQuery: { version: 1, sha256Hash: secret } } },
    [lookup],
    secret,
  ];
  const texts = [
    `{"query": "{ __typename }", "variables": {"pan": ${quoted}`,
    `{"pan": ${quoted}} ${secret}`,
    `{"__proto__": {"pan": ${quoted}}}`,
  ];
  const search = (query: string, variables = '{}'): string => `?${new URLSearchParams({ query, variables })}`;
  const suffixes = [
    search(LOOKUP, JSON.stringify({ c: secret })),
    search(LOOKUP, `{"c":${secret}`),
    search(secret),
    search(`mutation { x(a: "${secret}") }`),
    `/${escaped}`,
    `/${escaped}%zz`,
  ];
  const preflight = { 'apollo-require-preflight': 'true' };
  const headers = { cookie: secret, 'x-request-id': secret, 'apollographql-client-name': secret };
  return [
    ...bodies.map((body) => json(body)),
    ...texts.map((body): LeakCase => ({ body, headers: JSON_TYPE })),
    ...['text/plain', 'application/x-www-form-urlencoded', 'nonsense'].map((type) =>
      json(lookup, { 'content-type': type }),
    ),
    ...['PUT', 'DELETE'].map((method): LeakCase => ({ ...json({ secret }), method })),
    ...suffixes.map((suffix): LeakCase => ({ suffix, method: 'GET', headers: preflight })),
    { suffix: `?pan=${escaped}`, method: 'GET', headers: { accept: 'text/html' } },
    json({ query: '{ nosuch }' }, { ...headers, authorization: secret }),
  ];
}

describe('A card number', () => {
  test('in a create reaches the payment service, and the response contains at most the last four digits', async () => {
    service.requests.length = 0;
    const responses = await sendAll([payment(), payout()]);
    expect(responses.join()).toContain('"PaymentSuccess"');
    expect(responses.join()).toContain('"cardMask":"****6531"');
    const wallet = withValue(
      validCall('createPayout', 'jazzCash').input,
      ['method', 'jazzCash', 'accountNumber'],
      '12345678',
    );
    expect(await send(payout(wallet))).toContain('"accountMask":"****"');
    const sent = service.requests.filter(({ method }) => method === 'POST').map(({ body }) => body);
    expect(sent.join()).toContain(`"pan":"${PAN}"`);
    expect(sent.join()).toContain(`"cvc":"${CVC}"`);
    expect(sent.join()).toContain(`"pan":"${PAID_PAN}"`);
  });

  test('of a card-to-card recipient is shown to authenticated callers only', async () => {
    const payment_method = { type: 'c2c', card_number: C2C_PAN, state: 'waiting_for_confirm' };
    replyToGet = openPayment('c2c', { payment_method });
    const request = graphql(lookUpPayment(), IDS);
    expect(await exchange(request)).toContain(`"cardNumber":"${C2C_PAN}"`);
    await send({ ...request, headers: { ...request.headers, authorization: 'Bearer nobody' } });
  });
});

describe.each(Object.entries(SECRETS))('A secret (%s)', (_name, text) => {
  test('in place of another value is not repeated in the response, and causes no internal error', async () => {
    const responses = await sendAll(misplacedValue(text));
    responses.forEach(expectNoInternalError);
  });

  test('in a header, an address or a body that is too large is not repeated in the response', async () => {
    const plain = text.replaceAll(' ', '%20');
    const query = graphql('{ __typename }');
    const inHeader = Object.entries({
      [`${text} x`]: '1',
      x: `${text}\u0001`,
      'content-length': text,
      'content-encoding': text,
      'transfer-encoding': text,
      host: plain,
      origin: `https://${plain}.example`,
      'x-forwarded-for': text,
      authorization: `Bearer ${text}x`,
    });
    const inAddress = [
      `/%2e%2e/${plain}?a=${plain}#${plain}`,
      `/${text} x`,
      `?extensions=${plain}&operationName=${plain}&id=${plain}`,
    ];
    await sendAll([
      { ...query, body: `{"query":"${text.padEnd(200_000, text)}"}` },
      ...inHeader.map(([name, value]): LeakCase => ({ ...query, headers: { ...JSON_TYPE, [name]: value } })),
      { ...query, method: text.replace(/[^\w]/g, '') },
      ...inAddress.map((suffix): LeakCase => ({ suffix, method: 'GET' })),
    ]);
  });

  test('as an id or a cursor is not repeated in the response', async () => {
    replyToGet = () => ({ status: 404, json: { message: text } });
    const by = `channel: "${CHANNEL}"`;
    await sendAll(
      [
        `payment(${by}, externalId: $t) { __typename } payout(${by}, externalId: $t) { __typename }`,
        'attempt(idempotencyKey: $i) { idempotencyKey }',
        `attempts(${by}, after: $t) { edges { cursor } }`,
        `changes(${by}, after: $t) { endCursor }`,
        'node(id: $i) { id }',
      ].map((fields) => graphql(`query ($t: String!, $i: ID!) { ${fields} }`, { t: text, i: text })),
    );
  });
});

test('A cardholder name in place of another value is not repeated in the response, and causes no internal error', async () => {
  (await sendAll(misplacedValue(CARDHOLDER))).forEach(expectNoInternalError);
});

describe('A card number in a GraphQL name', () => {
  /** Invalid documents with § in place of each kind of name. */
  const DOCUMENTS = [
    '{ § }',
    '{ §: nosuch }',
    '{ payment(§: 1) { __typename } }',
    '{ payment(channel: $§) { __typename } }',
    'query ($§: Int!) { payment(channel: $§, externalId: "o") { __typename } }',
    'query ($c: §!) { payment(channel: $c, externalId: "o") { __typename } }',
    '{ ...§ }',
    '{ __typename @§ }',
    'mutation { createPayment(input: { method: { redirect: § } }) { __typename } }',
    'mutation { createPayment(input: { §: 1 }) { __typename } }',
  ];

  test.each([`pan${PAN}`, `_${PAN.replace(/(.{4})(?=.)/g, '$1_')}`, `x${PAN.slice(0, 4)}_${PAN.slice(4)}`])(
    'is not repeated in the response: %s',
    async (name) => {
      const invalid = [
        ...DOCUMENTS.map((document) => graphql(document.replaceAll('§', name))),
        json({ query: 'query A { __typename } query B { __typename }', operationName: name }),
      ];
      for (const response of await sendAll(invalid))
        expect(response).toMatch(
          /"code":"(GRAPHQL_VALIDATION_FAILED|BAD_USER_INPUT|OPERATION_RESOLUTION_FAILURE)"/,
        );
      // The response may contain the name, because the caller chose it; the log must not.
      const query = `query ${name}($v${name}: Boolean!) { ${name}: __typename @include(if: $v${name}) }`;
      await exchange(graphql(query, { [`v${name}`]: true }));
    },
  );
});

describe('An input field that the journal stores', () => {
  const { 'an API key': _key, ...refused } = SECRETS;

  test.each(Object.entries(refused))('is refused if it contains %s', async (_name, text) => {
    service.requests.length = 0;
    const ofPayout = (field: string): LeakCase => payout(cardPayout({ [field]: `no. ${text}` }));
    const ofBank = (field: string): LeakCase => {
      const { input } = validCall('createPayout', 'bankTransfer');
      return payout(withValue(input, ['method', 'bankTransfer', field], text));
    };
    const fields = ['idempotencyKey', 'externalId', 'description'];
    const cases = fields.map((field) => payment(cardPayment({ [field]: text })));
    if (text !== CVC) cases.push(...fields.map(ofPayout), ...['bankName', 'bankCode'].map(ofBank));
    for (const response of await sendAll(cases)) expect(response).toContain('"InvalidInputError"');
    expect(service.requests).toEqual([]);
  });

  test('is refused if it is the type of a payout and contains a card number', async () => {
    const type = { other: { type: `pan${PAN}`, fields: { a: 'b' } } };
    expect(await send(payout(cardPayout({ method: type })))).toContain('"InvalidInputError"');
  });
});

describe('A secret (of the gateway or in the request) that the payment service echoes', () => {
  const OWN: Record<string, string> = {
    'card number': PLAIN_PAN,
    'card number with blanks': SPACED_PAN,
    'card number in base64': Buffer.from(PAN).toString('base64'),
    'security code': CVC,
    'API key': API_KEY,
    'secret key in hex': Buffer.from(SECRET_KEY).toString('hex'),
  };
  const typesFor = (text: string): string[] =>
    [PLAIN_PAN, CVC, API_KEY].includes(text) ? ECHOED_TYPES : ['card', 'other'];

  const isCredential = (text: string): boolean => /key/.test(text + Buffer.from(text, 'hex').toString());

  test.each(Object.entries(OWN))('does not appear in the response to a create: %s', async (_how, text) => {
    for (const type of typesFor(text)) {
      // Without the amount, because a response that contradicts the request is discarded.
      const echo = { ...echoEverywhere({ type, text, paidTo: true }), amount: undefined };
      replyToPost = replyToGet = responseAbout(echo);
      expect(await send(payment())).toContain('"PaymentSuccess"');
      if (isCredential(text)) await send(payout());
    }
  });

  test.each(Object.entries(OWN))(
    'is not in the response to a create whose result came from a lookup: %s',
    async (_how, text) => {
      const amount = { currency: 'EUR', value: '10.00' };
      const now = (): string => new Date(Date.now() + 1000).toISOString().replace('Z', '+00:00');
      for (const type of ['card', 'other']) {
        const echo = { ...echoEverywhere({ type, text, paidTo: true }), amount };
        replyToGet = (request) => responseAbout({ ...echo, create_date: now() })(request);
        replyToPost = responseAbout({ status: 'failed' });
        expect(await send(payment())).toContain('"PaymentSuccess"');
        replyToPost = () => (connection) => connection.reset();
        const response = await send(payment());
        if (type === 'card') expect(response).toContain('"replayed":true');
      }
    },
  );

  test.each(Object.entries(OWN))('does not appear in a decline: %s', async (_how, text) => {
    replyToPost = responseAbout({ ...declineOf('card', text), amount: undefined });
    const response = await send(payment());
    expect(response).toContain('insufficient funds on ');
    expect(response).toContain('"reason":"INSUFFICIENT_FUNDS"');
  });

  test.each(Object.entries(OWN))('does not appear in a rejection or an error: %s', async (_how, text) => {
    // Errors of earlier tests may have opened the circuit breaker, which rejects creates before they are sent.
    replyToPost = accepted;
    await until(async () => (await send(payment())).includes('"PaymentSuccess"'));
    const names: CallName[] = isCredential(text) ? ['payment', 'payout', 'confirm', 'lookups'] : ['payment'];
    const responses = await sendForEach(refusalsWith(text), names);
    expect(responses.join().split('"RejectedByServiceError"').length).toBeGreaterThan(5);
  });
});

describe('The redaction of responses of the payment service', () => {
  const { plain = PAID_PAN, spaced = PAID_PAN } = writtenCardNumbers(PAID_PAN);
  const FOREIGN = { 'card number': plain, 'card number with blanks': spaced, token: TOKEN };

  test.each(Object.entries(FOREIGN))('removes a secret from a lookup result: %s', async (_how, text) => {
    for (const type of ECHOED_TYPES) {
      replyToGet = () => ({ status: 200, json: echoEverywhere({ type, text, paidTo: false }) });
      for (const response of await sendAll(lookups())) expect(response).toContain(TRANSACTION_ID);
    }
  });

  test.each(Object.entries(FOREIGN))('removes a secret from a decline or error: %s', async (_how, text) => {
    replyToGet = () => ({ status: 200, json: declineOf('card', text) });
    const [declined = ''] = await sendAll(lookups().slice(0, 1));
    expect(declined).toContain('insufficient funds on [redacted]');
    const responses = await sendForEach(refusalsWith(text), ['confirm', 'lookups']);
    expect(responses.join().split('"BAD_USER_INPUT"').length).toBeGreaterThan(5);
  });

  const NUMBER = '8808000000000007';
  const LINK = `upi://pay?pa=${NUMBER}@bank&am=1`;
  const PAGE = `https://pay.example/page/${NUMBER}?id=${NUMBER}`;

  test.each<[type: string, method: Json, more: Json, shown: string]>([
    [
      'virtual_account',
      { virtual_account: NUMBER, account_number: NUMBER, payment_data: { va: NUMBER } },
      {},
      `"accountNumber":"${NUMBER}","virtualAccount":"${NUMBER}","paymentData":{"va":"${NUMBER}"}`,
    ],
    ['upi', { upi_id: NUMBER, upi_link: LINK }, {}, `"upiId":"${NUMBER}","upiLink":"${LINK}"`],
    ['jazz_cash', { account: NUMBER }, {}, `"account":"${NUMBER}"`],
    ['bkash', {}, { account: NUMBER }, `"account":"${NUMBER}"`],
    ['qris', { qr_code: `0002${NUMBER}6304` }, {}, `"qrCode":"0002${NUMBER}6304"`],
    ['dcb', { user_id: NUMBER, phone: '919876543214' }, {}, `"userId":"${NUMBER}","phone":"919876543214"`],
    ['other', { account: NUMBER, iban: `DE${NUMBER}00` }, {}, `"account":"${NUMBER}","iban":"DE${NUMBER}00"`],
    ['card', { user_ip: '192.168.100.208' }, {}, '"userIp":"192.168.100.208"'],
    ['card', {}, { redirect_url: PAGE, external_id: NUMBER }, `"redirectUrl":"${PAGE}"`],
  ])('does not change payment details, IP addresses and links: %s %j', async (type, method, more, shown) => {
    replyToGet = openPayment(type, { payment_method: { type, ...method }, ...more });
    expect(await exchange(graphql(lookUpPayment(), IDS))).toContain(shown);
  });

  test.each([
    ['5398228707871527', '5398********1527'],
    ['5398 2287 0787 1527', '5398********1527'],
    ['5398********1527', '5398********1527'],
    ['539822xxxxxx1527', '539822xxxxxx1527'],
    ['5398228707871*27', null],
  ])('returns the card mask %s as %s', async (sent, shown) => {
    for (const type of ['card', 'c2c']) {
      replyToGet = openPayment(type, { payment_method: { type, card_mask: sent } });
      const response = await send(graphql(lookUpPayment(), IDS));
      expect(response).toContain(`"cardMask":${JSON.stringify(shown)}`);
    }
  });
});

test.each([
  'javascript:alert(1)',
  '//pay.example/',
  'https://user:pw@pay.example/',
  'https://pay.example/\u0001',
  'https:\\\\pay.example',
  `https://pay.example/?k=${API_KEY.replace(/./g, (character) => `%${character.charCodeAt(0).toString(16)}`)}`,
])('An unsafe URL that the payment service sends is not returned as redirectUrl: %j', async (page) => {
  replyToGet = openPayment('card', { status: 'pending', redirect_url: page });
  const response = await send(graphql(lookUpPayment(), IDS));
  expect(response).toContain('"redirectUrl":null');
  expect(response).toContain('"AwaitProviderAction"');
});

test.each(Object.entries({ 'a card number': PAN, 'a secret key': SECRET_KEY }))(
  'A broken response of the payment service that contains %s is not shown to the caller',
  async (_name, text) => {
    const rows = brokenWith(text).flatMap((row) => [row, ['a good one', { status: 404, json: {} }] as const]);
    const responses = await sendForEach(rows, ['payment', 'confirm', 'lookups']);
    for (const end of ['"OutcomeUnknownError"', '"SERVICE_TIMEOUT"', '"SERVICE_RESPONSE_INVALID"'])
      expect(responses.join()).toContain(end);
  },
);

test('Neither the log nor a file of the gateway contains a secret, while it runs and after it has stopped', async () => {
  replyToPost = accepted;
  const { idempotencyKey } = newIds();
  await send(payment(cardPayment({ idempotencyKey })));
  const written = (): [string, string][] =>
    readdirSync(folder).map((name) => [name, readFileSync(path.join(folder, name), 'latin1')]);
  const running = written();
  expect(running.map(([name]) => name)).toEqual(
    expect.arrayContaining(['journal.db', 'journal.db-wal', 'journal.db-shm']),
  );
  program.signal('SIGTERM');
  expect(await program.exited).toBe(0);
  const files = [...running, ...written()];
  const everything = files.map(([, text]) => text).join('\n');
  expect(everything).toContain(idempotencyKey);
  expect(existsSync(path.join(folder, 'audit.log'))).toBe(true);
  expect(program.output()).toContain('"event":"service_request_failed"');
  expect(program.output()).toContain('"msg":"GraphQL operation ended"');
  const leaks = [...files, ['the output', Buffer.from(program.output()).toString('latin1')] as const].flatMap(
    ([name, text]) => found(text).map((canary) => `${name}: ${canary}`),
  );
  expect([...new Set(leaks)]).toEqual([]);
  expect(everything).not.toContain(OTHER_CLIENT_KEY);
});
