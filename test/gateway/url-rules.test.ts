import fc from 'fast-check';
import { validateUrls } from '../../src/core/validation/validate-url';
import { testGateway, testSandbox, type TestClient, clear, type LoggedGateway } from '../support/gateway';
import { sendCall, validCall, type MutationResponse } from '../support/calls';
import { startRuleHarness } from './fixtures/rig';

/** Returns the rules that a URL breaks. Expects the same rules for both URL fields of a payment. */
async function rulesBroken(client: TestClient, url: string): Promise<string[]> {
  const { mutation, input } = validCall('createPayment', 'other');
  const result = await sendCall(client, { mutation, input: { ...input, returnUrl: url, callbackUrl: url } });
  expect(result.text).not.toContain(url);
  const [returnRules, callbackRules] = ['returnUrl', 'callbackUrl'].map((field) => rulesOf(result, field));
  expect(callbackRules).toEqual(returnRules);
  return returnRules ?? [];
}

/** Returns the rules that an input field breaks, or the error codes of the response. */
function rulesOf({ result, errors = [] }: MutationResponse, name: string): string[] {
  if (errors.length > 0) return [...new Set(errors.map(({ extensions }) => String(extensions['code'])))];
  if (/^Pay(ment|out)Success$/.test(result?.__typename ?? '')) return [];
  expect(result?.__typename).toBe('InvalidInputError');
  return (result?.fields ?? []).filter(({ path }) => path.join('.') === name).map(({ rule }) => rule);
}

/** Error code for text that the URL scalar cannot parse; such text breaks no rule. */
const NO_URL = 'BAD_USER_INPUT';

const REFUSED: Record<string, [url: string, rule: string][]> = {
  'without https': [
    ['http://shop.example/', 'https'],
    ['http://127.0.0.1/', 'https'],
    ['javascript:alert(1)', NO_URL],
    ['//shop.example/', NO_URL],
  ],
  'with credentials': [
    ['https://user:pw@shop.example/', 'noCredentials'],
    ['https://@shop.example/', 'noCredentials'],
    ['https://shop.example@10.0.0.1/', 'noCredentials'],
    ['https://shop.example%40other.example/', NO_URL],
  ],
  // The property tests below cover IPv4 in any notation.
  'with a non-public address': [
    ...['169.254.169.254', '192.0.2.1', '192.88.99.1', '198.51.100.7', '203.0.113.9', '168.63.129.16'],
    ...['[::]', '[::1]', '[fe80::1]', '[fec0::1]', '[fc00::1]', '[fd00:ec2::254]', '[ff02::1]', '[100::1]'],
    ...['[::ffff:8.8.8.8]', '[::ffff:0:10.0.0.1]', '[64:ff9b:1::a00:1]', '[2001:db8::1]', '[3fff::1]'],
    ...['[5f00::1]', '[4000::1]', '[0000:0000:0000:0000:0000:ffff:7f00:0001]', '[FE80::1]'],
    ...['127.1', '0x7f.1', '0xA9.0xFE.0xA9.0xFE', '①②⑦.0.0.1', '0', '0x'],
  ].map((host): [string, string] => [`https://${host}/`, 'publicAddress']),
  'whose host ends like an IP address but is not one': [
    ['https://256.1.1.1/', NO_URL],
    ['https://shop.example.1/', NO_URL],
    ['https://[fe80::1%25eth0]/', NO_URL],
  ],
  'with a host name of an internal network': [
    ...['LOCALHOST', 'localhost.', 'shop.localhost', 'printer', 'printer.local', 'a.localdomain'],
    ...['METADATA.GOOGLE.INTERNAL', 'metadata.google.internal.', 'shop.corp', 'nas.lan', 'nas.home'],
    ...['nas.home.arpa', '1.0.0.127.in-addr.arpa', 'local%68ost', 'ｌｏｃａｌｈｏｓｔ', 'loc\u00adalhost'],
  ].map((host): [string, string] => [`https://${host}/`, 'publicAddress']),
  'that other programs may parse differently': [
    ...['https:///shop.example/', 'https://shop.example./', 'https://shop.example:/'],
    ...['https://shop.example:0443/', 'https://shop..example/', 'https://-shop.example/'],
    ...['https://bücher.example/', 'https://sh%6fp.example/', 'https://134744072/', 'https://010.8.8.8/'],
    ...['https://shop.example?@10.0.0.1/', 'https://shop.example#@10.0.0.1/', 'https://shop.example/#a#b'],
    ...['https://shop.example/é', 'https://shop.example/"onload="', 'https://shop.example/<b>'],
    ...['https://shop.example/%zz', 'https://shop.example/\u0001', 'https://shop.example/\u202e'],
  ].map((url): [string, string] => [url, 'plainUrl']),
  'that cannot be parsed': [
    ...['https://shop.example\\@10.0.0.1/', 'https:\\\\10.0.0.1/', 'https://shop.example/ x'],
    ...['https://shop.example/\tx', 'ht\ntps://shop.example/', ' https://shop.example/'],
  ].map((url): [string, string] => [url, NO_URL]),
};

const PUBLIC = [
  'https://shop.example',
  'HTTPS://Shop.Example:8443/Return?order=1&x=%20#part',
  'https://shop.example/@shop/return?mail=a@b.example&to=/x?y',
  "https://a-b.c_d.shop.example/~x/(1)/!$&'*+,;=:",
  'https://xn--bcher-kva.example/',
  `https://shop.example/${'x'.repeat(2027)}`,
  'https://localhost.shop.example/',
  'https://10.0.0.1.shop.example/',
  'https://172.32.0.1/',
  'https://[2a00:1450:4001:0800::200E]:8443/x',
];

let harness: LoggedGateway;

beforeAll(async () => {
  harness = await startRuleHarness();
});

beforeEach(() => clear(harness));

describe.each(Object.entries(REFUSED))('With a payment service (no sandbox), a URL %s', (_what, rows) => {
  test.each(rows)('is refused: %j (rule or error code: %s)', async (url, rule) => {
    expect(await rulesBroken(harness.client, url)).toContain(rule);
    expect(harness.service.requests).toEqual([]);
    expect(harness.logLines.join('')).not.toContain(url);
  });

  test.each(rows.slice(0, 1))(
    'is refused as callbackUrl of a payout: %j (rule or error code: %s)',
    async (url, rule) => {
      const { mutation, input } = validCall('createPayout', 'other');
      const response = await sendCall(harness.client, { mutation, input: { ...input, callbackUrl: url } });
      expect(rulesOf(response, 'callbackUrl')).toContain(rule);
      expect(harness.service.requests).toEqual([]);
    },
  );
});

test.each(PUBLIC)(
  'With a payment service (no sandbox), the URL %s is accepted and sent unchanged',
  async (url) => {
    expect(await rulesBroken(harness.client, url)).toEqual([]);
    const sent = harness.service.requests.map(({ json }) => [json['return_url'], json['callback_url']]);
    expect(sent).toEqual([[url, url]]);
  },
);

test('One response reports every broken rule of every URL, without the URL', async () => {
  const { mutation, input } = validCall('createPayment', 'other');
  const urls = { returnUrl: 'http://user@10.0.0.1/', callbackUrl: 'https://localhost/' };
  const { result } = await sendCall(harness.client, { mutation, input: { ...input, ...urls } });
  const fields = result?.fields?.map(({ path, rule }) => [path.join('.'), rule]);
  expect(fields).toEqual([
    ['returnUrl', 'https'],
    ['returnUrl', 'noCredentials'],
    ['returnUrl', 'publicAddress'],
    ['callbackUrl', 'publicAddress'],
  ]);
  expect(result?.message).not.toMatch(/@|10\.0/);
});

describe('A gateway with ALLOWED_URL_HOSTS', () => {
  let listed: LoggedGateway;

  beforeAll(async () => {
    listed = await startRuleHarness({
      ALLOWED_URL_HOSTS: 'Shop.Example, *.pay.example, 8.8.8.8, localhost, 10.0.0.1',
    });
  });

  test.each(['https://SHOP.example:444/x', 'https://a.b.pay.example/', 'https://8.8.8.8/'])(
    'accepts an input with the URL %s',
    async (url) => expect(await rulesBroken(listed.client, url)).toEqual([]),
  );

  test.each([
    ['www.shop.example', 'allowedHost'],
    ['shop.example.evil.example', 'allowedHost'],
    ['pay.example', 'allowedHost'],
    ['evilpay.example', 'allowedHost'],
    // These hosts are in ALLOWED_URL_HOSTS, but are not public.
    ['localhost', 'publicAddress'],
    ['10.0.0.1', 'publicAddress'],
  ])('rejects an input with a URL of the host %s (rule %s)', async (host, rule) =>
    expect(await rulesBroken(listed.client, `https://${host}/?shop.example`)).toEqual([rule]),
  );
});

describe('A gateway with the embedded sandbox', () => {
  let client: TestClient;

  beforeAll(async () => {
    const sandbox = await testSandbox();
    client = await testGateway(sandbox.url, { inSandbox: true });
  });

  test.each(['http://shop.localhost:8080/healthz', 'https://127.8.9.1/', 'http://[::1]:3000/'])(
    'accepts an input with the URL %s',
    async (url) => expect(await rulesBroken(client, url)).toEqual([]),
  );

  test.each([
    ['http://shop.example/', 'https'],
    ['http://localhost.shop.example/', 'https'],
    ['https://169.254.169.254/', 'publicAddress'],
    ['https://[::ffff:127.0.0.1]/', 'publicAddress'],
    ['http://0.0.0.0/', 'publicAddress'],
    ['http://user@localhost/', 'noCredentials'],
    ['http://127.1/', 'plainUrl'],
  ])('rejects an input with the URL %s (rule %s)', async (url, rule) =>
    expect(await rulesBroken(client, url)).toContain(rule),
  );
});

describe('A URL with a non-public IPv4 address', () => {
  const RANGES = `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
    192.168.0.0/16 198.18.0.0/15 224.0.0.0/4 240.0.0.0/4`.split(/\s+/);

  const octetsOf = (address: number): number[] => [24, 16, 8, 0].map((shift) => (address >>> shift) & 255);
  const numberOf = (dotted: string): number =>
    dotted.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0);
  const hex = (value: number): string => value.toString(16);
  /** Returns an address as two groups of an IPv6 address. */
  const groups = (address: number): string => `${hex(address >>> 16)}:${hex(address & 0xffff)}`;

  const inRange = fc.constantFrom(...RANGES).chain((range) => {
    const [network = '', bits] = range.split('/');
    return fc.nat(2 ** (32 - Number(bits)) - 1).map((offset) => numberOf(network) + offset);
  });

  const octal = (value: number): string => `0${value.toString(8)}`;
  const encoded = (text: string): string => text.replace(/[0-9]/g, (digit) => `%${hex(digit.charCodeAt(0))}`);

  const NOTATIONS: Record<string, (address: number) => string> = {
    'four decimal numbers': (address) => octetsOf(address).join('.'),
    'one decimal number': String,
    'one hexadecimal number': (address) => `0x${hex(address)}`,
    'one octal number': octal,
    'four octal numbers': (address) => octetsOf(address).map(octal).join('.'),
    'three decimal numbers': (address) => `${address >>> 24}.${(address >>> 16) & 255}.${address & 0xffff}`,
    'four decimal numbers with a dot at the end': (address) => `${octetsOf(address).join('.')}.`,
    'numbers with percent-encoded digits': (address) => encoded(octetsOf(address).join('.')),
    'numbers with ideographic dots between them': (address) => octetsOf(address).join('。'),
    'an IPv4-mapped IPv6 address': (address) => `[::ffff:${octetsOf(address).join('.')}]`,
    'an IPv4-mapped IPv6 address in hexadecimal': (address) => `[::ffff:${groups(address)}]`,
    'an IPv4-compatible IPv6 address': (address) => `[::${octetsOf(address).join('.')}]`,
    'a NAT64 address': (address) => `[64:ff9b::${octetsOf(address).join('.')}]`,
    'a 6to4 address': (address) => `[2002:${groups(address)}::1]`,
    'a Teredo address': (address) => `[2001:0:4136:e378:8000:63bf:${groups(~address >>> 0)}]`,
  };

  test.each(Object.entries(NOTATIONS))('is refused when the address is written as %s', (_name, write) => {
    fc.assert(
      fc.property(inRange, fc.constantFrom('', '/', ':8443/x?y'), (address, rest) => {
        const urls = { callbackUrl: `https://${write(address)}${rest}` };
        const policy = { allowsLoopback: false, allowedHosts: null };
        const rules = validateUrls(urls, policy).map(({ rule }) => rule);
        expect(rules).toContain('publicAddress');
      }),
      { numRuns: 100 },
    );
  });
});
