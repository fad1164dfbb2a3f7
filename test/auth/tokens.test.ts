import { createSecretKey } from 'node:crypto';
import { SignJWT } from 'jose';
import { clear, type LoggedGateway } from '../support/gateway';
import {
  forgedTokens,
  newForgeryKeys,
  publishedKey,
  signed,
  wrongClaims,
  type ForgeryKey,
  type Json,
} from '../adversarial/forged-tokens';
import { TRANSACTION_ID } from '../support/calls';
import { AUDIENCE, ISSUER, Issuer, goodClaims, type PublishedKey } from '../support/issuer';
import { codesOf, expectUnauthenticated } from './support/responses';
import { OURS, THEIRS, startAuthHarness, bearer } from './support/harness';

const LOOKUP = 'query Q($c: UUID!, $t: UUID!) { payment(channel: $c, transactionId: $t) { __typename } }';

// A fixed clock makes the leeway exact.
const NOW = Date.now();
const S = Math.floor(NOW / 1000);
const DAY_S = 86_400;

const keys = newForgeryKeys();
const { rsa, ec, ed, ec384, attacker } = keys;
const published = (key: ForgeryKey): PublishedKey => ({ jwk: publishedKey(key) as PublishedKey['jwk'] });

/** Returns a token with changed claims; a claim that is undefined is left out. */
const tokenBy = (key: ForgeryKey, more: Json = {}, header?: Json): string =>
  signed(key, { ...goodClaims(NOW), ...more }, { header });

let harness: LoggedGateway;
let issuer: Issuer;

beforeAll(async () => {
  issuer = await Issuer.start(...[rsa, ec, ed, ec384].map(published));
  harness = await startAuthHarness({ env: issuer.settings, now: () => NOW });
});

beforeEach(() => clear(harness));

const ask = (token: string) => harness.client.request(LOOKUP, { c: OURS, t: TRANSACTION_ID }, bearer(token));

describe('A token', () => {
  test.each([
    ['signed with RS256', tokenBy(rsa)],
    ['signed with ES256', tokenBy(ec)],
    ['signed with EdDSA', tokenBy(ed)],
    ['without kid that only one published key can have signed', tokenBy(rsa, {}, { kid: undefined })],
    ['with the type at+jwt', tokenBy(ec, {}, { typ: 'at+jwt' })],
    ['for several audiences, one of them the gateway', tokenBy(ec, { aud: ['a', AUDIENCE] })],
    ['that expired 5 seconds ago (clock skew)', tokenBy(ec, { exp: S - 5 })],
    ['whose nbf and iat are 5 seconds in the future (clock skew)', tokenBy(ec, { nbf: S + 5, iat: S + 5 })],
    ['with a lifetime of a day', tokenBy(ec, { iat: S, exp: S + DAY_S })],
    ['without iat that expires in a day', tokenBy(ec, { iat: undefined, exp: S + DAY_S })],
    ['with special characters in the subject', tokenBy(ec, { sub: 'auth0|a.b-c_d@e:f/1' })],
  ])('%s is accepted, and no part of it is logged', async (_what, token) => {
    const { errors, status, text } = await ask(token);
    expect({ status, errors }).toEqual({ status: 200, errors: undefined });
    expect(harness.service.requests).toHaveLength(1);
    for (const part of token.split('.')) expect(text + harness.logLines.join('')).not.toContain(part);
  });
});

test('Forged and invalid tokens are refused and not logged, and no URL in them is requested', async () => {
  const attackersHost = await Issuer.start(published(attacker));
  const refused = [
    ...forgedTokens({ keys, claims: goodClaims(NOW), attackerUrl: attackersHost.url }),
    ...wrongClaims({ iss: ISSUER, aud: AUDIENCE }, S).map(
      ([why, claims]) => [why, tokenBy(ec, claims)] as const,
    ),
  ];
  expect(refused.length).toBeGreaterThan(110);
  for (const [why, token] of refused) {
    const response = await ask(token);
    expect([why, response.status]).toEqual([why, 401]);
    expectUnauthenticated(response);
    for (const part of token.split('.').filter(({ length }) => length > 8))
      expect(response.text + harness.logLines.join('')).not.toContain(part);
  }
  expect(harness.service.requests).toHaveLength(0);
  expect([issuer.requests, attackersHost.requests]).toEqual([1, 0]);
});

describe('A valid token', () => {
  const OTHER_SCOPES =
    'payouts:read payments:create PAYMENTS:READ payments:reads payments:read: payments:read:own: ' +
    'payments:read:owner payments:read,payouts:read * payments:* constructor __proto__ toString';

  test.each<[string, Json]>([
    ['no scope', { scope: undefined }],
    ['scopes as a list', { scope: ['payments:read'] }],
    ['scopes in other claims', { scope: undefined, scopes: ['payments:read'], scp: 'payments:read' }],
    ['other, similar scopes', { scope: OTHER_SCOPES }],
    ...[[], OURS, '*', { 0: OURS, length: 1 }, [THEIRS], [[OURS]], [OURS, '*'], [OURS, 4711, null]].map(
      (channels): [string, Json] => [`channels ${JSON.stringify(channels)}`, { channels }],
    ),
    ['its channel in the claim channel', { channels: undefined, channel: OURS }],
  ])('with %s allows no lookup', async (_what, more) => {
    const response = await ask(tokenBy(ec, more));
    expect([response.status, codesOf(response)]).toEqual([200, ['FORBIDDEN']]);
    expect(harness.service.requests).toHaveLength(0);
  });

  test.each([
    ['the scope twice, other scopes and extra spaces', { scope: ' openid  payments:read payments:read ' }],
    ['the channel in capitals', { channels: [OURS.toUpperCase()] }],
    ['the channel "*"', { channels: ['*'] }],
  ])('with %s allows a lookup', async (_what, more) => {
    expect((await ask(tokenBy(ec, more))).errors).toBeUndefined();
    expect(harness.service.requests).toHaveLength(1);
  });
});

describe('The published keys of a token issuer', () => {
  const statusWith = async (issuerKeys: PublishedKey[]) => {
    const { client } = await startAuthHarness({ env: (await Issuer.start(...issuerKeys)).settings });
    return async (token: string) => (await client.request('{ __typename }', {}, bearer(token))).status;
  };

  test('are all tried for a token without kid', async () => {
    const second: ForgeryKey = { ...newForgeryKeys().ec, kid: 'second' };
    const status = await statusWith([published(ec), published(second)]);
    const statuses = [ec, second, attacker].map((key) => status(tokenBy(key, {}, { kid: undefined })));
    expect(await Promise.all(statuses)).toEqual([200, 200, 401]);
  });

  test('are not used to verify tokens if they are symmetric or meant for encryption', async () => {
    const secret = Buffer.from('a secret that everybody can read here');
    const shared = { kty: 'oct', k: secret.toString('base64url'), kid: 'shared', alg: 'HS256' };
    const encrypting = published(attacker);
    encrypting.jwk.use = 'enc';
    const status = await statusWith([{ jwk: shared }, encrypting, published(ec)]);
    const byShared = await new SignJWT(goodClaims())
      .setProtectedHeader({ alg: 'HS256', kid: 'shared' })
      .sign(createSecretKey(secret));
    const statuses = [byShared, tokenBy(attacker), tokenBy(ec)].map(status);
    expect(await Promise.all(statuses)).toEqual([401, 401, 200]);
  });
});
