import { constants, createHmac, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';

export type Json = Record<string, unknown>;

export interface ForgeryKey {
  kid: string;
  alg: string;
  privateKey: KeyObject;
  publicKey: KeyObject;
}

/** The options of signatures by the first letters of their algorithms. */
const OPTIONS: Record<string, object> = {
  PS: { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 },
  ES: { dsaEncoding: 'ieee-p1363' },
};

export const newForgeryKeys = () => {
  const named = (alg: string, kid: string, pair: Pick<ForgeryKey, 'privateKey' | 'publicKey'>): ForgeryKey =>
    Object.assign(pair, { alg, kid });
  const elliptic = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve });
  return {
    rsa: named('RS256', 'rsa', generateKeyPairSync('rsa', { modulusLength: 2048 })),
    ec: named('ES256', 'ec', elliptic('P-256')),
    ed: named('EdDSA', 'ed', generateKeyPairSync('ed25519')),
    ec384: named('ES384', 'ec384', elliptic('P-384')),
    attacker: named('ES256', 'attacker', elliptic('P-256')),
  };
};

export type ForgeryKeys = ReturnType<typeof newForgeryKeys>;

export const publishedKey = ({ kid, alg, publicKey }: ForgeryKey): Json => ({
  ...publicKey.export({ format: 'jwk' }),
  kid,
  use: 'sig',
  alg,
});

const part = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

/** Returns a token. `alg`: algorithm of the signature, and of the header unless `header` replaces it. */
export function signed(
  key: ForgeryKey,
  payload: unknown,
  { header, alg = key.alg }: { header?: Json; alg?: string } = {},
): string {
  const text = `${part({ alg, kid: key.kid, ...header })}.${part(payload)}`;
  // Ed25519 takes no separate hash.
  const hash = alg === 'EdDSA' ? null : `sha${alg.slice(2)}`;
  const signature = sign(hash, Buffer.from(text), { key: key.privateKey, ...OPTIONS[alg.slice(0, 2)] });
  return `${text}.${signature.toString('base64url')}`;
}

type Row = [why: string, token: string];

/** Returns tokens that must be refused because of their form, header, key or signature, each with the reason. */
export function forgedTokens({
  keys,
  claims,
  attackerUrl,
}: {
  keys: ForgeryKeys;
  claims: Json;
  attackerUrl: string;
}): Row[] {
  const { rsa, ec, ed, ec384, attacker } = keys;
  const good = signed(ec, claims);
  const [head = '', body = '', mark = ''] = good.split('.');
  const pem = rsa.publicKey.export({ format: 'pem', type: 'spki' }).toString();
  const jwk = publishedKey(rsa) as { n: string };
  const byHmac = (secret: string | Buffer, header: Json = {}): string => {
    const text = `${part({ alg: 'HS256', kid: rsa.kid, ...header })}.${part(claims)}`;
    return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
  };
  const byIssuer = (header: Json, payload: unknown = claims): string => signed(ec, payload, { header });
  const byAttacker = (header: Json): string => signed(attacker, claims, { header });
  const [, , another] = signed(ec, { ...claims, sub: 'x' }).split('.');
  const jwe = part({ alg: 'RSA-OAEP-256', enc: 'A256GCM', kid: rsa.kid });
  return [
    ...['none', 'None', 'NONE', 'nOnE', ''].map((alg): Row => [
      `alg ${JSON.stringify(alg)}`,
      `${part({ alg, kid: ec.kid })}.${body}.`,
    ]),
    ['alg none and a signature', `${part({ alg: 'none' })}.${body}.${mark}`],
    ['no alg', byIssuer({ alg: undefined })],
    ['alg that is a list', byIssuer({ alg: ['ES256'] })],
    ['alg in lower case', byIssuer({ alg: 'es256' })],
    ...[pem, pem.trim(), JSON.stringify(jwk), jwk.n, Buffer.from(jwk.n, 'base64url'), '', rsa.kid].map(
      (secret, place): Row => [`HS256 with a public value as secret (${place})`, byHmac(secret)],
    ),
    ['an HS256 signature with alg RS256', byHmac('secret', { alg: 'RS256' })],
    ...['PS256', 'RS384', 'RS512'].map((alg): Row => [
      `${alg} signed by the RS256 key`,
      signed(rsa, claims, { alg }),
    ]),
    ['ES384 signed by a published key', signed(ec384, claims)],
    ['alg Ed25519 instead of EdDSA', signed(ed, claims, { header: { alg: 'Ed25519' } })],
    ['an RS256 signature with alg ES256', signed(rsa, claims, { header: { alg: 'ES256' } })],
    ['ES256 with the kid of the RSA key', byIssuer({ kid: rsa.kid })],
    ['RS256 with the kid of the ES256 key', signed(rsa, claims, { header: { kid: ec.kid } })],
    ['an unpublished key under a known kid', byAttacker({ kid: ec.kid })],
    ['an unpublished key under its own kid', byAttacker({})],
    ['an unpublished key and no kid', byAttacker({ kid: undefined })],
    ['an all-zero signature', `${head}.${body}.${Buffer.alloc(64).toString('base64url')}`],
    ['no signature', `${head}.${body}.`],
    ['a truncated signature', good.slice(0, -4)],
    ['a longer signature', `${good}AAAA`],
    ['a padded signature', `${good}==`],
    ['the signature of another token', `${head}.${body}.${another}`],
    ['other claims', `${head}.${part({ ...claims, sub: 'admin', channels: ['*'] })}.${mark}`],
    ['another header', `${part({ alg: 'ES256', kid: ec.kid, x: 1 })}.${body}.${mark}`],
    ['parts in another order', `${body}.${head}.${mark}`],
    ['four parts', `${good}.${mark}`],
    ['a leading dot', `.${good}`],
    ['a trailing dot', `${good}.`],
    ['only dots', '..'],
    ['padded parts', `${head}=.${body}=.${mark}=`],
    ['two tokens', `${good},${good}`],
    ['an encrypted token (JWE)', `${jwe}.AAAA.AAAA.AAAA.AAAA`],
    ['a nested token', byIssuer({ cty: 'JWT' }, good)],
    ['claims that are a list', byIssuer({}, [claims])],
    ['claims that are null', byIssuer({}, null)],
    ['claims that are not JSON', byIssuer({}, '{')],
    ['no claims', byIssuer({}, '')],
    ['a repeated claim', byIssuer({}, JSON.stringify(claims).replace('{', '{"channels":[],'))],
    ...['logout+jwt', 'secevent+jwt', 'dpop+jwt', 'application/logout+jwt', 'text/jwt', '', 7, ['JWT']].map(
      (typ): Row => [`the type ${JSON.stringify(typ)}`, byIssuer({ typ })],
    ),
    ['a header that is a list', `${part([])}.${body}.${mark}`],
    ['characters beyond ASCII', `${head}.${body}\xfc.${mark}`],
    ['more bytes than a token may have', byIssuer({}, { ...claims, filler: 'x'.repeat(8000) })],
    ['an unknown kid', byIssuer({ kid: 'nobody' })],
    ['a kid that is a number', byIssuer({ kid: 7 })],
    ...['../../../../dev/null', attackerUrl, "x' UNION SELECT 'secret", '', '__proto__'].map((kid): Row => [
      `an unpublished key under the kid ${JSON.stringify(kid)}`,
      byAttacker({ kid }),
    ]),
    ['an unpublished key in the header (jwk)', byAttacker({ kid: ec.kid, jwk: publishedKey(attacker) })],
    ['an unpublished key in jwk and no kid', byAttacker({ kid: undefined, jwk: publishedKey(attacker) })],
    ['the URL of other keys (jku)', byAttacker({ jku: attackerUrl })],
    ['the URL of another certificate (x5u)', byAttacker({ kid: ec.kid, x5u: attackerUrl })],
    ['another certificate (x5c)', byAttacker({ kid: ec.kid, x5c: [part('certificate')] })],
    ['the attacker as issuer', signed(attacker, { ...claims, iss: attackerUrl })],
    ['an unknown critical header', byIssuer({ crit: ['x'], x: 1 })],
    ['a critical header that is not an extension', byIssuer({ crit: ['alg'] })],
    ['a header for an unencoded payload (b64)', byIssuer({ crit: ['b64'], b64: false })],
  ];
}

const DAY_S = 86_400;
const YEAR_3000_S = Date.UTC(3000, 0, 1) / 1000;

/** Returns claims with which a token must be refused, each with the reason, as words that follow "a token". */
export const wrongClaims = ({ iss, aud }: { iss: string; aud: string }, nowS: number): [string, Json][] => [
  ['expired beyond any leeway', { exp: nowS - 61 }],
  ['without exp', { exp: undefined }],
  ...[null, String(nowS + 600), new Date((nowS + 600) * 1000).toISOString(), true, -1, { $gt: 0 }].map(
    (exp): [string, Json] => [`with exp ${JSON.stringify(exp)}`, { exp }],
  ),
  ['with iat and exp in the year 3000', { iat: YEAR_3000_S - 600, exp: YEAR_3000_S }],
  ['with a lifetime of more than a day', { iat: nowS - 10, exp: nowS - 10 + DAY_S + 1 }],
  ['issued a day ago, with a lifetime of more than a day', { iat: nowS - DAY_S, exp: nowS + 1 }],
  ['that expires in more than a day, without iat', { iat: undefined, exp: nowS + DAY_S + 1 }],
  ['issued in the future', { iat: nowS + 61 }],
  ['with an iat that is not a number', { iat: 'now' }],
  ['not valid yet', { nbf: nowS + 61 }],
  ['with an nbf that is not a number', { nbf: 'now' }],
  ...[undefined, 'https://evil.example/', iss.slice(0, -1), iss.toUpperCase(), [iss]].map(
    (other): [string, Json] => [`of the issuer ${JSON.stringify(other)}`, { iss: other }],
  ),
  ...[undefined, 'paygraph', `${aud}-2`, [], ['a', 'b'], [[aud]], { [aud]: true }].map(
    (other): [string, Json] => [`for the audience ${JSON.stringify(other)}`, { aud: other }],
  ),
  ...[
    ...[undefined, '', null, 4711, true, ['shopper-1'], { id: 'shopper-1' }, 'shopper 1', 'schröder'],
    ...['shopper\n{"who":"admin"}', 'shopper-1\n', 'shopper\u001b[2J', 'x'.repeat(256)],
  ].map((sub): [string, Json] => [`with the subject ${JSON.stringify(sub)?.slice(0, 40)}`, { sub }]),
];
