import { createHmac, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { OURS } from './target';

const ISSUER = 'https://login.example/';
const AUDIENCE = 'paygraph-attack';

type Json = Record<string, unknown>;

const part = (json: Json | string): string =>
  Buffer.from(typeof json === 'string' ? json : JSON.stringify(json)).toString('base64url');

const now = (): number => Math.floor(Date.now() / 1000);

const claims = (more: Json = {}): Json => ({
  iss: ISSUER,
  aud: AUDIENCE,
  sub: 'shopper-1',
  iat: now(),
  exp: now() + 600,
  scope: 'payments:read payments:create payouts:read payouts:create cards:direct',
  channels: [OURS],
  ...more,
});

const HASHED = { RS256: 'sha256', ES256: 'sha256', PS256: 'sha256', RS512: 'sha512' } as const;

function token(header: Json, payload: Json | string, key: KeyObject, alg: keyof typeof HASHED): string {
  const text = `${part(header)}.${part(payload)}`;
  const how = alg === 'ES256' ? { key, dsaEncoding: 'ieee-p1363' as const } : { key };
  return `${text}.${sign(HASHED[alg], Buffer.from(text), how).toString('base64url')}`;
}

const byHmac = (header: Json, payload: Json, secret: string | Buffer): string => {
  const text = `${part(header)}.${part(payload)}`;
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
};

/** Who makes tokens that the gateway accepts, and whoever would like to. */
export interface Forger {
  /** For the gateway. */
  env: Record<string, string>;
  /** A token that is good. */
  good(): string;
  /** Tokens that are not, and why. */
  forged(): [string, string][];
  close(): void;
}

/** Publishes the public keys of an issuer, and makes tokens with and without its private ones. */
export async function startForger(): Promise<Forger> {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const elliptic = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const keys = [
    { ...rsa.publicKey.export({ format: 'jwk' }), kid: 'rsa', use: 'sig', alg: 'RS256' },
    { ...elliptic.publicKey.export({ format: 'jwk' }), kid: 'ec', use: 'sig', alg: 'ES256' },
  ];
  const server = createServer((_request, response) => response.end(JSON.stringify({ keys })));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const jwksUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/keys`;

  const RS = { alg: 'RS256', kid: 'rsa', typ: 'JWT' };
  const byIssuer = (payload: Json | string, header: Json = RS): string =>
    token(header, payload, rsa.privateKey, 'RS256');
  const byStranger = (header: Json): string => token(header, claims(), stranger.privateKey, 'RS256');
  const pem = rsa.publicKey.export({ format: 'pem', type: 'spki' });
  const good = (): string => byIssuer(claims());
  const strangersKey = stranger.publicKey.export({ format: 'jwk' });

  return {
    env: { AUTH_JWKS_URL: jwksUrl, AUTH_ISSUER: ISSUER, AUTH_AUDIENCE: AUDIENCE },
    good,
    close: () => server.close(),
    forged: () => {
      const [head = '', body = '', signature = ''] = good().split('.');
      return [
        ...['none', 'None', 'NONE', ''].map((alg): [string, string] => [
          `alg ${JSON.stringify(alg)}`,
          `${part({ ...RS, alg })}.${part(claims())}.`,
        ]),
        ['no alg', `${part({ kid: 'rsa' })}.${part(claims())}.${signature}`],
        ['without its signature', `${head}.${body}.`],
        ['HMAC by the public key', byHmac({ alg: 'HS256', kid: 'rsa' }, claims(), String(pem))],
        ['HMAC by the modulus', byHmac({ alg: 'HS256', kid: 'rsa' }, claims(), String(keys[0]?.n))],
        ['HMAC by nothing', byHmac({ alg: 'HS256', kid: 'rsa' }, claims(), '')],
        ['by a stranger, under the name of the key', byStranger(RS)],
        ['by a stranger, under a name of its own', byStranger({ ...RS, kid: 'stranger' })],
        ['by a stranger, under no name', byStranger({ alg: 'RS256' })],
        ['by a stranger, its key in the head', byStranger({ alg: 'RS256', jwk: strangersKey })],
        ['by a stranger, its key elsewhere', byStranger({ ...RS, jku: 'https://evil.example/keys' })],
        ['by a stranger, a certificate elsewhere', byStranger({ ...RS, x5u: 'https://evil.example/x' })],
        ['by a stranger, the name a path', byStranger({ ...RS, kid: '../../../dev/null' })],
        ['by a stranger, the name a query', byStranger({ ...RS, kid: "' UNION SELECT 'x" })],
        ['RS256 said to be ES256', byIssuer(claims(), { ...RS, alg: 'ES256' })],
        ['RS512 of the right key', token({ ...RS, alg: 'RS512' }, claims(), rsa.privateKey, 'RS512')],
        [
          'an ES256 signature of zeros',
          `${part({ alg: 'ES256', kid: 'ec' })}.${part(claims())}.${Buffer.alloc(64).toString('base64url')}`,
        ],
        ['a signature of ES256 under the key of RS256', token(RS, claims(), elliptic.privateKey, 'ES256')],
        [
          'another body under the signature',
          `${head}.${part(claims({ sub: 'admin', channels: ['*'] }))}.${signature}`,
        ],
        ['another head over the body', `${part({ ...RS, cty: 'x' })}.${body}.${signature}`],
        ['something unknown that is critical', byIssuer(claims(), { ...RS, crit: ['evil'], evil: 1 })],
        ['not encoded, as RFC 7797', byIssuer(claims(), { ...RS, b64: false, crit: ['b64'] })],
        ['expired', byIssuer(claims({ exp: now() - 120 }))],
        ['without an end', byIssuer(claims({ exp: undefined }))],
        ['an end that is a text', byIssuer(claims({ exp: '9999999999' }))],
        ['an end that is no number', byIssuer(claims({ exp: { $gt: 0 } }))],
        ['not yet valid', byIssuer(claims({ nbf: now() + 600 }))],
        ['of another issuer', byIssuer(claims({ iss: 'https://evil.example/' }))],
        ['of no issuer', byIssuer(claims({ iss: undefined }))],
        ['of several issuers', byIssuer(claims({ iss: [ISSUER, 'https://evil.example/'] }))],
        ['for somebody else', byIssuer(claims({ aud: 'other' }))],
        ['for nobody', byIssuer(claims({ aud: undefined }))],
        ['of no subject', byIssuer(claims({ sub: undefined }))],
        ['of a subject that is a list', byIssuer(claims({ sub: ['shopper-1'] }))],
        ['of a subject with a line of its own', byIssuer(claims({ sub: 'a\nb' }))],
        ['a body that is no JSON', byIssuer('hello')],
        ['a body that is a list', byIssuer('[]')],
        ['a body that is null', byIssuer('null')],
        ['a head that is no JSON', `${part('hello')}.${body}.${signature}`],
        ['with something behind it', `${good()}.x`],
        ['twice', `${good()}${good()}`],
        ['with a padded signature', `${good()}==`],
        ['cut short', good().slice(0, -4)],
        ['only dots', '..'],
        ['very long', `${head}.${part(claims({ filler: 'x'.repeat(9000) }))}.${signature}`],
      ];
    },
  };
}
