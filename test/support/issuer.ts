import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SignJWT, exportJWK, generateKeyPair, type CryptoKey, type JWK, type JWTPayload } from 'jose';
import { closeAfterTests } from './gateway';
import { OURS } from '../auth/support/harness';

export interface PublishedKey {
  jwk: JWK;
}

export interface SigningKey extends PublishedKey {
  alg: string;
  kid: string;
  privateKey: CryptoKey;
  publicKey: CryptoKey;
}

let keys = 0;
export async function newKey(alg: string): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  keys += 1;
  const kid = `key-${keys}`;
  return { alg, kid, privateKey, publicKey, jwk: { ...(await exportJWK(publicKey)), kid, use: 'sig' } };
}

export const ISSUER = 'https://login.example/';
export const AUDIENCE = 'paygraph-tests';

/** Returns the claims of a token with all rights on our channel; `now` is in ms. */
export const goodClaims = (now = Date.now()): JWTPayload => ({
  iss: ISSUER,
  aud: AUDIENCE,
  sub: 'shopper-1',
  iat: Math.floor(now / 1000),
  exp: Math.floor(now / 1000) + 600,
  scope: 'payments:read payments:create payments:confirm payouts:read payouts:create',
  channels: [OURS],
});

interface Making {
  claims?: Record<string, unknown>;
  header?: Record<string, unknown>;
}

/** Returns a signed token; an undefined claim or header is left out. */
export function tokenBy(key: SigningKey, { claims = {}, header = {} }: Making = {}): Promise<string> {
  const payload = JSON.parse(JSON.stringify({ ...goodClaims(), ...claims })) as JWTPayload;
  return new SignJWT(payload)
    .setProtectedHeader(
      JSON.parse(JSON.stringify({ alg: key.alg, kid: key.kid, ...header })) as { alg: string },
    )
    .sign(key.privateKey);
}

/** An identity provider that publishes public keys and counts requests for them. */
export class Issuer {
  requests = 0;
  keys: PublishedKey[] = [];
  /** Replaces the response with the public keys. */
  respondWith: ((response: ServerResponse) => void) | undefined;
  readonly #server: Server;
  #port = 0;

  private constructor() {
    this.#server = createServer((_request, response) => {
      this.requests += 1;
      if (this.respondWith) return this.respondWith(response);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ keys: this.keys.map(({ jwk }) => jwk) }));
    });
  }

  static async start(...published: PublishedKey[]): Promise<Issuer> {
    const issuer = new Issuer();
    issuer.keys = published;
    await issuer.up();
    closeAfterTests({ close: () => issuer.down() });
    return issuer;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/keys`;
  }

  get settings(): Record<string, string> {
    return { AUTH_JWKS_URL: this.url, AUTH_ISSUER: ISSUER, AUTH_AUDIENCE: AUDIENCE };
  }

  /** Starts listening; after `down`, on the same port as before. */
  async up(): Promise<void> {
    await once(this.#server.listen(this.#port, '127.0.0.1'), 'listening');
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async down(): Promise<void> {
    this.#server.closeAllConnections();
    await once(this.#server.close(), 'close');
  }
}
