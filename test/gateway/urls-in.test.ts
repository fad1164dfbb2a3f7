import { BlockList } from 'node:net';
import fc from 'fast-check';
import { pino } from 'pino';
import { SANDBOX_CREDENTIALS, readConfig } from '../../src/config';
import { startGateway } from '../../src/gateway';
import { urlFaults } from '../../src/operations/url-faults';
import {
  closeAfterTests,
  temporaryDatabase,
  testSandbox,
  TestClient,
  openPatiently,
} from '../support/gateway';
import { make, validCall, type MoneyAnswer, type MoneyResult } from './fixtures/calls';
import { clear, newRig, type Rig } from './fixtures/rig';

/** The address in both fields of a payment and in the one of a payout: the rules it breaks there, the same everywhere. */
async function rulesBroken(client: TestClient, url: string): Promise<string[]> {
  const send = (mutation: 'createPayment' | 'createPayout', field: string): Promise<MoneyAnswer> =>
    make(client, { mutation, input: { ...validCall(mutation, 'other').input, [field]: url } });
  const answers = [
    await send('createPayment', 'returnUrl'),
    await send('createPayment', 'callbackUrl'),
    await send('createPayout', 'callbackUrl'),
  ];
  const rules = answers.map(({ result, errors, text }) => {
    expect(text).not.toContain(url);
    if (errors) return errors.map(({ extensions }) => String(extensions['code']));
    return rulesOf(result);
  });
  expect(rules[1]).toEqual(rules[0]);
  expect(rules[2]).toEqual(rules[0]);
  return rules[0] ?? [];
}

function rulesOf(result: MoneyResult | undefined): string[] {
  if (/^Pay(ment|out)Success$/.test(result?.__typename ?? '')) return [];
  expect(result?.__typename).toBe('InvalidInputError');
  return (result?.fields ?? []).map(({ path, rule }) => {
    expect(['returnUrl', 'callbackUrl']).toContain(path.join('.'));
    return rule;
  });
}

/** Words of the table for what a browser's parser does not take for a web address: the scalar refuses it. */
const NO_URL = 'BAD_USER_INPUT';

const REFUSED: Record<string, [url: string, rule: string][]> = {
  'are not https': [
    ['http://shop.example/', 'https'],
    ['HTTP://SHOP.EXAMPLE/', 'https'],
    ['http://localhost/', 'https'],
    ['http://127.0.0.1/', 'https'],
    ['http://[::1]/', 'https'],
    ['javascript:alert(1)', NO_URL],
    ['data:text/html,x', NO_URL],
    ['ftp://shop.example/', NO_URL],
    ['file:///etc/passwd', NO_URL],
    ['//shop.example/', NO_URL],
  ],
  'carry credentials': [
    ['https://user:pw@shop.example/', 'noCredentials'],
    ['https://user@shop.example/', 'noCredentials'],
    ['https://@shop.example/', 'noCredentials'],
    ['https://:@shop.example/', 'noCredentials'],
    ['https://shop.example@10.0.0.1/', 'noCredentials'],
    ['https://a@b@shop.example/', 'noCredentials'],
    ['https://shop.example%40other.example/', NO_URL],
  ],
  'name an address that is not public': [
    ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.100.100.200', '127.0.0.1'],
    ...['127.255.255.254', '169.254.169.254', '169.254.170.2', '172.16.0.1', '172.31.255.255', '192.0.0.192'],
    ...['192.0.2.1', '192.168.1.1', '198.18.0.1', '198.51.100.7', '203.0.113.9', '224.0.0.1', '240.0.0.1'],
    ...['255.255.255.255', '168.63.129.16', '192.88.99.1'],
    ...['[::]', '[::1]', '[fe80::1]', '[fec0::1]', '[fc00::1]', '[fd00:ec2::254]', '[ff02::1]', '[100::1]'],
    ...['[::ffff:10.0.0.1]', '[::ffff:a9fe:a9fe]', '[::ffff:8.8.8.8]', '[::10.0.0.1]', '[::ffff:0:10.0.0.1]'],
    ...['[64:ff9b::10.0.0.1]', '[64:ff9b:1::a00:1]', '[2002:a00:1::]', '[2002:7f00:1::1]'],
    ...['[2001:0:4136:e378:8000:63bf:3fff:fdd2]', '[2001:db8::1]', '[3fff::1]', '[5f00::1]', '[4000::1]'],
    ...['[0:0:0:0:0:0:0:1]', '[0000:0000:0000:0000:0000:ffff:7f00:0001]', '[FE80::1]'],
  ].map((host): [string, string] => [`https://${host}/`, 'publicAddress']),
  'name an address that is not public in another notation': [
    ...[
      '2130706433',
      '0x7f000001',
      '017700000001',
      '127.1',
      '127.0.1',
      '0x7f.1',
      '0177.0.0.1',
      '0x7f.0x0.0x0.0x1',
    ],
    ...[
      '2852039166',
      '0xa9fea9fe',
      '025177524776',
      '169.16689662',
      '0xA9.0xFE.0xA9.0xFE',
      '10.1',
      '012.0.0.1',
    ],
    ...[
      '127.0.0.1.',
      '10.0.0.1.',
      '%31%32%37.0.0.1',
      '１２７.０.０.１',
      '①②⑦.0.0.1',
      '127。0。0。1',
      '0',
      '0x',
    ],
  ].map((host): [string, string] => [`https://${host}/`, 'publicAddress']),
  'are not an address although they end like one': [
    ['https://256.1.1.1/', NO_URL],
    ['https://1.2.3.4.5/', NO_URL],
    ['https://shop.example.1/', NO_URL],
    ['https://[fe80::1%25eth0]/', NO_URL],
    ['https://[fe80::1%eth0]/', NO_URL],
    ['https://[::1/', NO_URL],
  ],
  'name a host of an internal network': [
    ...[
      'localhost',
      'LOCALHOST',
      'localhost.',
      'shop.localhost',
      'printer',
      'intranet',
      'metadata',
      'router.',
    ],
    ...['printer.local', 'metadata.google.internal', 'METADATA.GOOGLE.INTERNAL', 'metadata.google.internal.'],
    ...[
      'db.internal',
      'shop.corp',
      'nas.lan',
      'nas.home',
      'nas.home.arpa',
      '1.0.0.127.in-addr.arpa',
      'a.localdomain',
    ],
    ...['local%68ost', 'ｌｏｃａｌｈｏｓｔ', 'loc\u00adalhost'],
  ].map((host): [string, string] => [`https://${host}/`, 'publicAddress']),
  'may be read differently by somebody else': [
    ['https:///shop.example/', 'plainUrl'],
    ['https:////shop.example/', 'plainUrl'],
    ['https://shop.example./', 'plainUrl'],
    ['https://shop.example:/', 'plainUrl'],
    ['https://shop.example:0443/', 'plainUrl'],
    ['https://shop..example/', 'plainUrl'],
    ['https://-shop.example/', 'plainUrl'],
    ['https://bücher.example/', 'plainUrl'],
    ['https://ｓｈｏｐ.example/', 'plainUrl'],
    ['https://sh%6fp.example/', 'plainUrl'],
    ['https://134744072/', 'plainUrl'],
    ['https://0x08.8.8.8/', 'plainUrl'],
    ['https://010.8.8.8/', 'plainUrl'],
    ['https://8.8.2056/', 'plainUrl'],
    ['https://shop.example?@10.0.0.1/', 'plainUrl'],
    ['https://shop.example#@10.0.0.1/', 'plainUrl'],
    ['https://shop.example/#a#b', 'plainUrl'],
    ['https://shop.example/é', 'plainUrl'],
    ['https://shop.example/"onload="', 'plainUrl'],
    ['https://shop.example/<b>', 'plainUrl'],
    ['https://shop.example/%zz', 'plainUrl'],
    ['https://shop.example/\u0001', 'plainUrl'],
    ['https://shop.example/\u0000', 'plainUrl'],
    ['https://shop.example/\u202e', 'plainUrl'],
    ['https://shop.example\\@10.0.0.1/', NO_URL],
    ['https:\\\\10.0.0.1/', NO_URL],
    ['https://shop.example/ x', NO_URL],
    ['https://shop.example/\tx', NO_URL],
    ['ht\ntps://shop.example/', NO_URL],
    ['https://shop.example /', NO_URL],
    ['https://shop\u00a0.example/', NO_URL],
    [' https://shop.example/', NO_URL],
    ['https://shop.example/\n', NO_URL],
    ['https:/shop.example/', NO_URL],
    ['https:shop.example/', NO_URL],
  ],
};

const PUBLIC = [
  'https://shop.example',
  'https://shop.example/',
  'HTTPS://Shop.Example/Return',
  'https://shop.example:8443/return?order=1&x=%20#part',
  'https://shop.example?order=1',
  'https://shop.example/@shop/return?mail=a@b.example&to=/x?y',
  "https://a-b.c_d.shop.example/~x/(1)/!$&'*+,;=:",
  'https://xn--bcher-kva.example/',
  'https://localhost.shop.example/',
  'https://10.0.0.1.shop.example/',
  'https://internal.shop.example/',
  'https://8.8.8.8/',
  'https://172.32.0.1/',
  'https://100.128.0.1/',
  'https://[2606:4700::1111]/',
  'https://[2a00:1450:4001:0800::200E]:8443/x',
];

let rig: Rig;

beforeAll(async () => {
  rig = await newRig();
});

beforeEach(() => clear(rig));

describe.each(Object.entries(REFUSED))(
  'With a real service, addresses are refused that %s',
  (_what, rows) => {
    test.each(rows)('%j by the rule %s', async (url, rule) => {
      expect(await rulesBroken(rig.client, url)).toContain(rule);
      expect(rig.service.seen).toEqual([]);
      expect(rig.logLines.join('')).not.toContain(url);
    });
  },
);

test.each(PUBLIC)('With a real service %s is taken, and sent on as it is written', async (url) => {
  expect(await rulesBroken(rig.client, url)).toEqual([]);
  const sent = rig.service.seen.map(({ json }) => json['return_url'] ?? json['callback_url']);
  expect(sent).toEqual([url, url, url]);
});

test('Every mistake is told at once, and the message states the rule', async () => {
  const { result } = await make(rig.client, {
    mutation: 'createPayment',
    input: {
      ...validCall('createPayment', 'other').input,
      returnUrl: 'http://user@10.0.0.1/',
      callbackUrl: 'https://localhost/',
    },
  });
  const fields = result?.fields?.map(({ path, rule }) => [path.join('.'), rule]);
  expect(fields).toEqual([
    ['returnUrl', 'https'],
    ['returnUrl', 'noCredentials'],
    ['returnUrl', 'publicAddress'],
    ['callbackUrl', 'publicAddress'],
  ]);
  expect(result?.fields?.[0]?.message).toBe('must begin with https.');
  expect(result?.message).not.toMatch(/@|10\.0/);
});

describe('With a list of hosts', () => {
  let listed: Rig;

  beforeAll(async () => {
    listed = await newRig({ ALLOWED_URL_HOSTS: 'Shop.Example, *.pay.example, 8.8.8.8, localhost, 10.0.0.1' });
  });

  test.each([
    'https://shop.example/',
    'https://SHOP.example:444/x',
    'https://a.pay.example/',
    'https://a.b.pay.example/',
    'https://8.8.8.8/',
  ])('%s is taken', async (url) => expect(await rulesBroken(listed.client, url)).toEqual([]));

  test.each([
    'https://www.shop.example/',
    'https://shop.example.evil.example/',
    'https://pay.example/',
    'https://evilpay.example/',
    'https://8.8.4.4/',
    'https://evil.example/?shop.example',
    'https://evil.example/shop.example',
  ])('%s is refused', async (url) => expect(await rulesBroken(listed.client, url)).toEqual(['allowedHost']));

  test.each(['https://localhost/', 'https://10.0.0.1/'])(
    '%s stays refused although it is listed',
    async (url) => expect(await rulesBroken(listed.client, url)).toEqual(['publicAddress']),
  );
});

describe('With the embedded sandbox', () => {
  let client: TestClient;

  beforeAll(async () => {
    const { apiKey, secretKey } = SANDBOX_CREDENTIALS;
    const sandbox = await testSandbox({ apiKey: apiKey.reveal(), secretKey: secretKey.reveal() });
    const config = readConfig({ PORT: '0', DATABASE_URL: temporaryDatabase() });
    const service = { ...config.service, baseUrl: sandbox.url };
    const log = pino({ level: 'silent' });
    const gateway = await startGateway({ ...config, service }, log, undefined, { open: openPatiently });
    client = new TestClient(closeAfterTests(gateway));
  });

  test.each([
    'http://localhost:4000/healthz',
    'https://localhost/',
    'http://shop.localhost:8080/',
    'http://127.0.0.1:1/x',
    'https://127.8.9.1/',
    'http://[::1]:3000/',
    'https://shop.example/',
  ])('%s is taken', async (url) => expect(await rulesBroken(client, url)).toEqual([]));

  test.each([
    ['http://shop.example/', 'https'],
    ['http://localhost.shop.example/', 'https'],
    ['http://10.0.0.1/', 'publicAddress'],
    ['https://169.254.169.254/', 'publicAddress'],
    ['https://[::ffff:127.0.0.1]/', 'publicAddress'],
    ['http://0.0.0.0/', 'publicAddress'],
    ['https://printer.local/', 'publicAddress'],
    ['http://user@localhost/', 'noCredentials'],
    ['http://127.1/', 'plainUrl'],
    ['http://2130706433/', 'plainUrl'],
    ['http://localhost./', 'plainUrl'],
  ])('%s is refused by the rule %s', async (url, rule) =>
    expect(await rulesBroken(client, url)).toContain(rule),
  );
});

describe('Whatever notation an IPv4 address is written in', () => {
  const RANGES: [network: string, bits: number][] = [
    ['0.0.0.0', 8],
    ['10.0.0.0', 8],
    ['100.64.0.0', 10],
    ['127.0.0.0', 8],
    ['169.254.0.0', 16],
    ['172.16.0.0', 12],
    ['192.0.0.0', 24],
    ['192.168.0.0', 16],
    ['198.18.0.0', 15],
    ['224.0.0.0', 4],
    ['240.0.0.0', 4],
  ];

  const octetsOf = (address: number): number[] => [24, 16, 8, 0].map((shift) => (address >>> shift) & 255);
  const numberOf = (dotted: string): number =>
    dotted.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0);
  const hex = (value: number): string => value.toString(16);
  const group = (high = 0, low = 0): string => hex(high * 256 + low);

  const inRange = fc
    .constantFrom(...RANGES)
    .chain(([network, bits]) => fc.nat(2 ** (32 - bits) - 1).map((offset) => numberOf(network) + offset));

  const one = (value: number, base: number): string =>
    base === 16 ? `0x${hex(value)}` : base === 8 ? `0${value.toString(8)}` : String(value);
  const fullWidth = (text: string): string =>
    text.replace(/[0-9]/g, (digit) => String.fromCodePoint(digit.charCodeAt(0) + 0xfee0));
  const encoded = (text: string): string => text.replace(/[0-9]/g, (digit) => `%${hex(digit.charCodeAt(0))}`);

  const NOTATIONS: Record<string, (address: number) => string> = {
    'the usual one': (address) => octetsOf(address).join('.'),
    'one decimal number': (address) => String(address),
    'one hexadecimal number': (address) => one(address, 16),
    'one octal number': (address) => one(address, 8),
    'hexadecimal parts': (address) =>
      octetsOf(address)
        .map((octet) => one(octet, 16))
        .join('.'),
    'octal parts': (address) =>
      octetsOf(address)
        .map((octet) => one(octet, 8))
        .join('.'),
    'two parts': (address) => `${address >>> 24}.${address & 0xffffff}`,
    'three parts': (address) => `${address >>> 24}.${(address >>> 16) & 255}.${address & 0xffff}`,
    'a dot at its end': (address) => `${octetsOf(address).join('.')}.`,
    'full-width digits': (address) => fullWidth(octetsOf(address).join('.')),
    'percent-encoded digits': (address) => encoded(octetsOf(address).join('.')),
    'ideographic dots': (address) => octetsOf(address).join('。'),
    'IPv4-mapped': (address) => `[::ffff:${octetsOf(address).join('.')}]`,
    'IPv4-mapped, in hexadecimal': (address) => {
      const [a, b, c, d] = octetsOf(address);
      return `[::ffff:${group(a, b)}:${group(c, d)}]`;
    },
    'IPv4-compatible': (address) => `[::${octetsOf(address).join('.')}]`,
    NAT64: (address) => `[64:ff9b::${octetsOf(address).join('.')}]`,
    '6to4': (address) => {
      const [a, b, c, d] = octetsOf(address);
      return `[2002:${group(a, b)}:${group(c, d)}::1]`;
    },
    Teredo: (address) => {
      const [a = 0, b = 0, c = 0, d = 0] = octetsOf(address).map((octet) => octet ^ 255);
      return `[2001:0:4136:e378:8000:63bf:${group(a, b)}:${group(c, d)}]`;
    },
  };

  const strict = { loopback: false, hosts: null };
  const rulesFor = (url: string): string[] => urlFaults({ callbackUrl: url }, strict).map(({ rule }) => rule);

  test.each(Object.entries(NOTATIONS))('one that is not public is refused: %s', (_name, write) => {
    fc.assert(
      fc.property(
        inRange,
        fc.constantFrom('', ':8443'),
        fc.constantFrom('', '/', '/x?y'),
        (address, port, path) => {
          expect(rulesFor(`https://${write(address)}${port}${path}`)).toContain('publicAddress');
        },
      ),
      { numRuns: 300 },
    );
  });

  test('one that is public is taken in the usual notation and in no other', () => {
    const special = new BlockList();
    RANGES.forEach(([network, bits]) => special.addSubnet(network, bits));
    for (const [network, bits] of [
      ['192.0.2.0', 24],
      ['192.88.99.0', 24],
      ['198.51.100.0', 24],
      ['203.0.113.0', 24],
      ['168.63.129.16', 32],
    ] as const) {
      special.addSubnet(network, bits);
    }
    const open = fc.nat(2 ** 32 - 1).filter((address) => !special.check(octetsOf(address).join('.')));
    fc.assert(
      fc.property(open, (address) => {
        for (const [name, write] of Object.entries(NOTATIONS)) {
          const rules = rulesFor(`https://${write(address)}/`);
          if (name === 'the usual one') expect(rules).toEqual([]);
          else expect(rules).not.toEqual([]);
        }
      }),
      { numRuns: 500 },
    );
  });
});

test('No text that is not an address, and none of any length, makes the check fail or take long', () => {
  const policy = { loopback: true, hosts: ['*.shop.example'] };
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.webUrl({ withFragments: true })), (text) => {
      for (const url of [text, `https://${text}`]) {
        for (const { message, rule } of urlFaults({ returnUrl: url }, policy)) {
          expect(rule).toMatch(/^\w+$/);
          if (text.length > 8) expect(message).not.toContain(text);
        }
      }
    }),
    { numRuns: 1000 },
  );
  expect(urlFaults({ returnUrl: `https://${'a-'.repeat(1000)}` }, policy)).not.toEqual([]);
  expect(urlFaults({ returnUrl: `https://${'a.'.repeat(1000)}` }, policy)).not.toEqual([]);
});
