import { createHmac, createPrivateKey, sign } from 'node:crypto';
import {
  CompactEncrypt,
  CompactSign,
  SignJWT,
  UnsecuredJWT,
  base64url,
  exportJWK,
  exportSPKI,
  importJWK,
  type JWK,
} from 'jose';
import { TRANSACTION_ID } from '../gateway/fixtures/calls';
import { codesOf, expectUnauthenticated } from './support/answers';
import { stopDate } from './support/date';
import { ISSUER, Issuer, goodClaims, newKey, tokenBy, type SigningKey } from './support/issuer';
import { OURS, THEIRS, accessRig, bearer, clear, clientOf, keyOf, type Rig } from './support/rig';

const LOOKUP = 'query Q($c: UUID!, $t: UUID!) { payment(channel: $c, transactionId: $t) { __typename } }';

/** The date stands still: a second more or less is then no chance. */
stopDate();
const NOW = Date.now();
const S = Math.floor(NOW / 1000);
const DAY_S = 86_400;
const YEAR_3000_S = Date.UTC(3000, 0, 1) / 1000;

let rig: Rig;
let issuer: Issuer;
/** Whatever a token names in it, an attacker's host must hear nothing. */
let attacker: Issuer;
let rsa: SigningKey;
let ec: SigningKey;
let ed: SigningKey;
let ec384: SigningKey;
let stolen: SigningKey;

beforeAll(async () => {
  [rsa, ec, ed, ec384, stolen] = await Promise.all([
    newKey('RS256'),
    newKey('ES256'),
    newKey('EdDSA', { crv: 'Ed25519' }),
    newKey('ES384'),
    newKey('ES256'),
  ]);
  issuer = await Issuer.start(rsa, ec, ed, ec384);
  attacker = await Issuer.start(stolen);
  rig = await accessRig({
    clients: [clientOf('shop', { channels: [OURS] })],
    env: issuer.settings,
  });
});

afterAll(() => void jest.useRealTimers());

beforeEach(() => clear(rig));

const ask = (token: string, channel = OURS) =>
  rig.client.ask(LOOKUP, { c: channel, t: TRANSACTION_ID }, bearer(token));

/** A token is taken, and nothing of it is written anywhere. */
async function expectAccepted(token: string): Promise<void> {
  const answer = await ask(token);
  expect(answer.errors).toBeUndefined();
  expect(answer.status).toBe(200);
  expect(rig.service.seen).toHaveLength(1);
  for (const part of token.split('.')) expect(answer.text + rig.logLines.join('')).not.toContain(part);
}

async function expectRefused(token: string): Promise<void> {
  const answer = await ask(token);
  expectUnauthenticated(answer);
  expect(rig.service.seen).toHaveLength(0);
  for (const part of token.split('.').filter(({ length }) => length > 8))
    expect(answer.text + rig.logLines.join('')).not.toContain(part);
}

const encode = (value: unknown): string => base64url.encode(JSON.stringify(value));
const claims = (more: Record<string, unknown> = {}): string => encode({ ...goodClaims(NOW), ...more });

/** Signs any header and any payload, as no library would. */
function signedBy(
  { privateJwk, hash }: { privateJwk: JWK; hash: string },
  header: object,
  payload: string,
): string {
  const text = `${encode(header)}.${payload}`;
  const key = createPrivateKey({ key: privateJwk as never, format: 'jwk' });
  return `${text}.${sign(hash, Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}

const ecSigned = async (header: object, payload: string): Promise<string> =>
  signedBy({ privateJwk: await exportJWK(ec.privateKey), hash: 'sha256' }, header, payload);

describe('A token is accepted', () => {
  const ACCEPTED: [string, () => Promise<string>][] = [
    ['by RS256', () => tokenBy(rsa)],
    ['by ES256', () => tokenBy(ec)],
    ['by EdDSA', () => tokenBy(ed)],
    ['without kid, where only one key fits', () => tokenBy(rsa, { header: { kid: undefined } })],
    ...['JWT', 'jwt', 'at+jwt', 'AT+JWT', 'application/at+jwt', 'application/JWT'].map(
      (typ): [string, () => Promise<string>] => [
        `with the type ${typ}`,
        () => tokenBy(ec, { header: { typ } }),
      ],
    ),
    [
      'for several audiences, ours among them',
      () => tokenBy(ec, { claims: { aud: ['a', 'paygraph-tests'] } }),
    ],
    ['that ended a moment ago: clocks differ', () => tokenBy(ec, { claims: { exp: S - 5 } })],
    ['that begins in a moment', () => tokenBy(ec, { claims: { nbf: S + 5 } })],
    ['that began long ago', () => tokenBy(ec, { claims: { nbf: S - 1e6, iat: S - DAY_S + 600 } })],
    ['that lives for a day', () => tokenBy(ec, { claims: { iat: S, exp: S + DAY_S } })],
    [
      'that lives for a day, and does not say since when',
      () => tokenBy(ec, { claims: { iat: undefined, exp: S + DAY_S } }),
    ],
    ['that was made in a moment: clocks differ', () => tokenBy(ec, { claims: { iat: S + 5 } })],
    ['with claims that mean nothing here', () => tokenBy(ec, { claims: { roles: ['admin'], azp: 'x' } })],
    [
      'with a subject of many kinds of letters',
      () => tokenBy(ec, { claims: { sub: 'auth0|a.b-c_d@e:f/1' } }),
    ],
  ];

  test.each(ACCEPTED)('%s', async (_what, make) => expectAccepted(await make()));

  test('beside keys of services, which serve as before', async () => {
    await expectAccepted(await tokenBy(ec));
    clear(rig);
    expect((await ask(keyOf('shop'))).errors).toBeUndefined();
  });
});

const HMAC_HEADER = () => ({ alg: 'HS256', kid: rsa.kid, typ: 'JWT' });

function hmacSigned(secret: string | Uint8Array, header: object = HMAC_HEADER()): string {
  const text = `${encode(header)}.${claims()}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

const unsigned = (alg: string): string => `${encode({ alg, kid: ec.kid })}.${claims()}.`;

/** With parts of a good token in other places. */
async function rearranged(arrange: (parts: [string, string, string]) => string): Promise<string> {
  return arrange((await tokenBy(ec)).split('.') as [string, string, string]);
}

const byAttacker = (header: Record<string, unknown>): Promise<string> =>
  tokenBy(stolen, { header: { kid: ec.kid, ...header } });

const FORGED: [string, () => string | Promise<string>][] = [
  ['alg none', () => unsigned('none')],
  ['alg None', () => unsigned('None')],
  ['alg NONE', () => unsigned('NONE')],
  ['alg nOnE', () => unsigned('nOnE')],
  ['an empty alg', () => unsigned('')],
  ['alg none by a library', () => new UnsecuredJWT(goodClaims(NOW)).encode()],
  [
    'alg none and a signature',
    () => rearranged(([, payload, mark]) => `${encode({ alg: 'none' })}.${payload}.${mark}`),
  ],
  ['no alg', () => rearranged(([, payload, mark]) => `${encode({ kid: ec.kid })}.${payload}.${mark}`)],
  ['alg that is a list', () => ecSigned({ alg: ['ES256'], kid: ec.kid }, claims())],
  ['alg in lower case', () => ecSigned({ alg: 'es256', kid: ec.kid }, claims())],
  ['HS256 with the public key as secret (PEM)', async () => hmacSigned(await exportSPKI(rsa.publicKey))],
  [
    'HS256 with the public key as secret (PEM, trimmed)',
    async () => hmacSigned((await exportSPKI(rsa.publicKey)).trim()),
  ],
  ['HS256 with the public key as secret (JWK)', () => hmacSigned(JSON.stringify(rsa.jwk))],
  ['HS256 with the modulus as secret', () => hmacSigned(base64url.decode(rsa.jwk.n ?? ''))],
  ['HS256 with an empty secret', () => hmacSigned('')],
  ['HS256 with the kid as secret', () => hmacSigned(rsa.kid)],
  ['HS256 that calls itself RS256', () => hmacSigned('secret', { alg: 'RS256', kid: rsa.kid })],
  [
    'PS256 by the right key',
    async () =>
      signedBy(
        { privateJwk: await exportJWK(rsa.privateKey), hash: 'sha256' },
        { alg: 'PS256', kid: rsa.kid },
        claims(),
      ),
  ],
  [
    'RS384 by the right key',
    async () =>
      signedBy(
        { privateJwk: await exportJWK(rsa.privateKey), hash: 'sha384' },
        { alg: 'RS384', kid: rsa.kid },
        claims(),
      ),
  ],
  [
    'RS512 by the right key',
    async () =>
      signedBy(
        { privateJwk: await exportJWK(rsa.privateKey), hash: 'sha512' },
        { alg: 'RS512', kid: rsa.kid },
        claims(),
      ),
  ],
  ['ES384 by the right key', () => tokenBy(ec384)],
  ['Ed25519, which is EdDSA by another name', () => tokenBy(ed, { header: { alg: 'Ed25519' } })],
  ['ES256 with the kid of the RSA key', () => tokenBy(ec, { header: { kid: rsa.kid } })],
  ['RS256 with the kid of another key', () => tokenBy(rsa, { header: { kid: ec.kid } })],
  ['another key under a known kid', () => tokenBy(stolen, { header: { kid: ec.kid } })],
  ['another key under its own kid', () => tokenBy(stolen)],
  ['another key and no kid', () => tokenBy(stolen, { header: { kid: undefined } })],
  [
    'an all-zero signature',
    () => rearranged(([head, payload]) => `${head}.${payload}.${base64url.encode(new Uint8Array(64))}`),
  ],
  ['no signature', () => rearranged(([head, payload]) => `${head}.${payload}.`)],
  ['no signature and no dot', () => rearranged(([head, payload]) => `${head}.${payload}`)],
  ['a cut signature', () => rearranged(([head, payload, mark]) => `${head}.${payload}.${mark.slice(0, -4)}`)],
  ['a longer signature', () => rearranged(([head, payload, mark]) => `${head}.${payload}.${mark}AAAA`)],
  [
    'the signature of another token',
    async () => {
      const [, , mark] = (await tokenBy(ec, { claims: { sub: 'someone' } })).split('.');
      return rearranged(([head, payload]) => `${head}.${payload}.${mark}`);
    },
  ],
  ['other claims', () => rearranged(([head, , mark]) => `${head}.${claims({ channels: ['*'] })}.${mark}`)],
  [
    'another header',
    () =>
      rearranged(([, payload, mark]) => `${encode({ alg: 'ES256', kid: ec.kid, x: 1 })}.${payload}.${mark}`),
  ],
  ['parts in another order', () => rearranged(([head, payload, mark]) => `${payload}.${head}.${mark}`)],
  ['four parts', () => rearranged((parts) => [...parts, parts[2]].join('.'))],
  ['five parts', () => rearranged((parts) => [...parts, ...parts].slice(0, 5).join('.'))],
  ['a dot in front', () => rearranged((parts) => `.${parts.join('.')}`)],
  ['a dot behind', () => rearranged((parts) => `${parts.join('.')}.`)],
  ['padding', () => rearranged((parts) => parts.map((part) => `${part}=`).join('.'))],
  ['two tokens', async () => `${await tokenBy(ec)},${await tokenBy(ec)}`],
  [
    'an encrypted token (JWE)',
    async () =>
      new CompactEncrypt(new TextEncoder().encode(JSON.stringify(goodClaims(NOW))))
        .setProtectedHeader({ alg: 'RSA-OAEP-256', enc: 'A256GCM', kid: rsa.kid })
        .encrypt(await importJWK({ ...rsa.jwk, use: 'enc' }, 'RSA-OAEP-256')),
  ],
  [
    'a token within a token',
    async () =>
      new CompactSign(new TextEncoder().encode(await tokenBy(ec)))
        .setProtectedHeader({ alg: 'ES256', kid: ec.kid, cty: 'JWT' })
        .sign(ec.privateKey),
  ],
  ['claims that are a list', () => ecSigned({ alg: 'ES256', kid: ec.kid }, encode([goodClaims(NOW)]))],
  ['claims that are null', () => ecSigned({ alg: 'ES256', kid: ec.kid }, encode(null))],
  ['claims that are no JSON', () => ecSigned({ alg: 'ES256', kid: ec.kid }, base64url.encode('{'))],
  ['no claims', () => ecSigned({ alg: 'ES256', kid: ec.kid }, '')],
  ...[
    'logout+jwt',
    'secevent+jwt',
    'dpop+jwt',
    'application/logout+jwt',
    'text/jwt',
    '',
    7,
    null,
    ['JWT'],
  ].map((typ): [string, () => Promise<string>] => [
    `the type ${JSON.stringify(typ)}`,
    () => ecSigned({ alg: 'ES256', kid: ec.kid, typ }, claims()),
  ]),
  [
    'a claim that it has twice',
    () =>
      ecSigned(
        { alg: 'ES256', kid: ec.kid },
        base64url.encode(JSON.stringify(goodClaims(NOW)).replace('{', '{"channels":[],')),
      ),
  ],
  [
    'a header that is no JSON',
    () => rearranged(([, payload, mark]) => `${base64url.encode('{')}.${payload}.${mark}`),
  ],
  ['a header that is a list', () => rearranged(([, payload, mark]) => `${encode([])}.${payload}.${mark}`)],
  ['letters beyond ASCII', () => rearranged(([head, payload, mark]) => `${head}.${payload}\xfc.${mark}`)],
  ['more than a token may have', () => tokenBy(ec, { claims: { filler: 'x'.repeat(8000) } })],
  ['an unknown kid', () => tokenBy(ec, { header: { kid: 'nobody' } })],
  ['a kid that is a path', () => tokenBy(stolen, { header: { kid: '../../../../dev/null' } })],
  ['a kid that is an address', () => tokenBy(stolen, { header: { kid: attacker.url } })],
  ['a kid that is SQL', () => tokenBy(stolen, { header: { kid: "x' UNION SELECT 'secret" } })],
  ['a kid that is empty', () => tokenBy(stolen, { header: { kid: '' } })],
  ['a kid that is a number', () => ecSigned({ alg: 'ES256', kid: 7 }, claims())],
  ['a kid that is __proto__', () => tokenBy(stolen, { header: { kid: '__proto__' } })],
  ['its own key in the header (jwk)', () => byAttacker({ jwk: stolen.jwk })],
  ['its own key and no kid', () => byAttacker({ jwk: stolen.jwk, kid: undefined })],
  ['the address of its own keys (jku)', () => byAttacker({ jku: attacker.url, kid: stolen.kid })],
  ['the address of its own certificate (x5u)', () => byAttacker({ x5u: attacker.url })],
  ['its own certificate (x5c)', () => byAttacker({ x5c: [base64url.encode('certificate')] })],
  ['an issuer that is the attacker', () => tokenBy(stolen, { claims: { iss: attacker.url } })],
  ['crit that nobody knows', () => ecSigned({ alg: 'ES256', kid: ec.kid, crit: ['x'], x: 1 }, claims())],
  ['crit that is empty', () => ecSigned({ alg: 'ES256', kid: ec.kid, crit: [] }, claims())],
  ['crit for what is no extension', () => ecSigned({ alg: 'ES256', kid: ec.kid, crit: ['alg'] }, claims())],
  [
    'a payload that is not encoded (b64)',
    () => ecSigned({ alg: 'ES256', kid: ec.kid, crit: ['b64'], b64: false }, claims()),
  ],
];

const NOT_FOR_US: [string, Record<string, unknown>][] = [
  ['expired beyond any leeway', { exp: S - 61 }],
  ['expired a year ago', { exp: S - 31_536_000 }],
  ['that never expires', { exp: undefined }],
  ['whose end is null', { exp: null }],
  ['whose end is a text', { exp: String(S + 600) }],
  ['whose end is a date', { exp: new Date(NOW + 600_000).toISOString() }],
  ['whose end is true', { exp: true }],
  ['whose end is negative', { exp: -1 }],
  ['whose end is in the year 3000', { exp: YEAR_3000_S }],
  ['whose end is in the year 3000, and its beginning too', { iat: YEAR_3000_S - 600, exp: YEAR_3000_S }],
  ['whose end is in the year 3000, and that does not say since when', { iat: undefined, exp: YEAR_3000_S }],
  ['that lives for more than a day', { iat: S - 10, exp: S - 10 + DAY_S + 1 }],
  ['that has lived for more than a day', { iat: S - DAY_S, exp: S + 1 }],
  ['that lives for more than a day, and does not say since when', { iat: undefined, exp: S + DAY_S + 1 }],
  ['that was made in the future', { iat: S + 61 }],
  ['that was made at no time', { iat: 'now' }],
  ['that begins in the future', { nbf: S + 61 }],
  ['whose beginning is a text', { nbf: 'now' }],
  ['without an issuer', { iss: undefined }],
  ['of another issuer', { iss: 'https://evil.example/' }],
  ['of an issuer without its slash', { iss: ISSUER.slice(0, -1) }],
  ['of an issuer in capitals', { iss: ISSUER.toUpperCase() }],
  ['of several issuers', { iss: [ISSUER] }],
  ['without an audience', { aud: undefined }],
  ['for another audience', { aud: 'paygraph' }],
  ['for an audience that begins like ours', { aud: 'paygraph-tests-2' }],
  ['for no audience', { aud: [] }],
  ['for several others', { aud: ['a', 'b'] }],
  ['for an audience within a list', { aud: [['paygraph-tests']] }],
  ['for an audience that is an object', { aud: { 'paygraph-tests': true } }],
  ['without a subject', { sub: undefined }],
  ['whose subject is empty', { sub: '' }],
  ['whose subject is null', { sub: null }],
  ['whose subject is a number', { sub: 4711 }],
  ['whose subject is true', { sub: true }],
  ['whose subject is a list', { sub: ['shopper-1'] }],
  ['whose subject is an object', { sub: { id: 'shopper-1' } }],
  ['whose subject has a blank', { sub: 'shopper 1' }],
  ['whose subject has a line break', { sub: 'shopper\n{"who":"admin"}' }],
  ['whose subject ends with a line break', { sub: 'shopper-1\n' }],
  ['whose subject has an escape', { sub: 'shopper\u001b[2J' }],
  ['whose subject is not ASCII', { sub: 'schröder' }],
  ['whose subject has no end', { sub: 'x'.repeat(256) }],
];

describe('A forged token is refused, and nothing is sent', () => {
  test.each(FORGED)('%s', async (_what, make) => expectRefused(await make()));

  test('none of them made the gateway ask anybody but the issuer, and that once', () => {
    expect(attacker.requests).toBe(0);
    expect(issuer.requests).toBe(1);
  });
});

describe('A token that is not for us, or not now, is refused, and nothing is sent', () => {
  test.each(NOT_FOR_US)('%s', async (_what, more) => expectRefused(await tokenBy(ec, { claims: more })));
});

test('The leeway for the end of a token is at most a minute', async () => {
  const outcomes = [];
  for (const ago of [0, 60, 61, 120])
    outcomes.push([ago, (await ask(await tokenBy(ec, { claims: { exp: S - ago } }))).status]);
  expect(outcomes).toEqual(
    expect.arrayContaining([
      [0, 200],
      [61, 401],
      [120, 401],
    ]),
  );
});

const GRANTS_NOTHING: [string, Record<string, unknown>][] = [
  ['no scope', { scope: undefined }],
  ['a scope that is null', { scope: null }],
  ['an empty scope', { scope: '' }],
  ['scopes as a list', { scope: ['payments:read'] }],
  ['scopes as an object', { scope: { 'payments:read': true } }],
  ['scopes by another name', { scope: undefined, scopes: ['payments:read'], scp: 'payments:read' }],
  ['other scopes', { scope: 'payouts:read payments:create openid' }],
  ['a scope in capitals', { scope: 'PAYMENTS:READ' }],
  ['a scope with more behind it', { scope: 'payments:reads payments:read:owner' }],
  ['a star', { scope: '* payments:*' }],
  ['scopes with commas', { scope: 'payments:read,payouts:read' }],
  ['scopes of an object', { scope: 'constructor __proto__ toString' }],
  ['no channels', { channels: undefined }],
  ['channels that are null', { channels: null }],
  ['no channel in the list', { channels: [] }],
  ['the channel as a text', { channels: OURS }],
  ['a star as a text', { channels: '*' }],
  ['channels as an object', { channels: { 0: OURS, length: 1 } }],
  ['channels that are true', { channels: true }],
  ['another channel', { channels: [THEIRS] }],
  ['a list in the list', { channels: [[OURS]] }],
  ['a star beside the channel', { channels: [OURS, '*'] }],
  ['two stars', { channels: ['*', '*'] }],
  ['channels among other things', { channels: [OURS, 4711, null] }],
  ['a star among other things', { channels: ['*', 4711] }],
  ['the channel with blanks', { channels: [` ${OURS} `] }],
  ['the channel without dashes', { channels: [OURS.replaceAll('-', '')] }],
  ['channels by another name', { channels: undefined, channel: OURS }],
];

describe('The claims of a good token', () => {
  test.each(GRANTS_NOTHING)('%s: a payment on our channel is forbidden', async (_what, more) => {
    const answer = await ask(await tokenBy(ec, { claims: more }));
    expect(answer.status).toBe(200);
    expect(codesOf(answer)).toEqual(['FORBIDDEN']);
    expect(rig.service.seen).toHaveLength(0);
  });

  test.each([
    ['one scope', { scope: 'payments:read' }],
    ['the scope among others, known and not', { scope: 'openid payments:read email payouts:create' }],
    ['the scope twice, and blanks', { scope: '  payments:read  payments:read ' }],
    ['the channel in capitals', { channels: [OURS.toUpperCase()] }],
    ['the channel among others', { channels: [THEIRS, OURS] }],
    ['all channels', { channels: ['*'] }],
  ])('%s: it is allowed', async (_what, more) => {
    expect((await ask(await tokenBy(ec, { claims: more }))).errors).toBeUndefined();
    expect(rig.service.seen).toHaveLength(1);
  });

  test('are read from the token alone: what is sent beside it changes nothing', async () => {
    const token = await tokenBy(ec, { claims: { channels: [THEIRS] } });
    const response = await fetch(`${rig.client.url}?channels=${OURS}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...bearer(token),
        channels: OURS,
        'x-scope': 'payments:read',
      },
      body: JSON.stringify({
        query: LOOKUP,
        variables: { c: OURS, t: TRANSACTION_ID },
        channels: [OURS],
        extensions: { channels: [OURS], scope: 'payments:read' },
      }),
    });
    expect(await response.json()).toMatchObject({ errors: [{ extensions: { code: 'FORBIDDEN' } }] });
  });
});

test('Who signs with several keys and names none is understood', async () => {
  // A journal that is opened compares this date with that of its own thread.
  jest.useRealTimers();
  const [first, second] = [await newKey('ES256'), await newKey('ES256')];
  const several = await Issuer.start(first, second);
  const { client } = await accessRig({ env: several.settings });
  for (const key of [first, second]) {
    const token = await tokenBy(key, { header: { kid: undefined } });
    expect((await client.ask('{ __typename }', {}, bearer(token))).status).toBe(200);
  }
  const forged = await tokenBy(stolen, { header: { kid: undefined } });
  expectUnauthenticated(await client.ask('{ __typename }', {}, bearer(forged)));
});

test('Published keys that are no signing keys of ours accept nothing', async () => {
  jest.useRealTimers();
  const secret = base64url.encode('a secret that everybody can read here');
  const shared = { ...ec, kid: 'shared', jwk: { kty: 'oct', k: secret, kid: 'shared', alg: 'HS256' } };
  const encrypting = await newKey('ES256');
  encrypting.jwk.use = 'enc';
  const odd = await Issuer.start(shared, encrypting, ec);
  const { client } = await accessRig({ env: odd.settings });
  const asked = async (token: string) => client.ask('{ __typename }', {}, bearer(token));
  const byShared = await new SignJWT(goodClaims())
    .setProtectedHeader({ alg: 'HS256', kid: 'shared' })
    .sign(base64url.decode(secret));
  expectUnauthenticated(await asked(byShared));
  expectUnauthenticated(await asked(await tokenBy(encrypting)));
  expect((await asked(await tokenBy(ec))).status).toBe(200);
});
