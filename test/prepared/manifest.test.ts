import { Issuer, newKey, tokenBy } from '../access/support/issuer';
import { bearer } from '../access/support/rig';
import { apolloManifest, fileOf, sha256 } from '../gateway/fixtures/manifests';
import { AUTHORIZED } from '../support/credentials';
import { CHANNEL } from '../support/gateway';
import { BothWays } from './support/both-ways';

/** What services made prepared is not open to frontends for that: the manifest is asked before. */

const LISTED = 'query Listed { listed: __typename }';
const FREE = 'query Free { free: __typename }';
const REQUIRED = 'PERSISTED_OPERATION_REQUIRED';

type Mode = 'allow' | 'prefer' | 'require';

let issuer: Issuer;
let frontend: { authorization: string };

beforeAll(async () => {
  const key = await newKey('RS256');
  issuer = await Issuer.start(key);
  frontend = bearer(await tokenBy(key, { claims: { channels: [CHANNEL] } }));
});

const gatewayIn = (frontends: Mode, services: Mode): Promise<BothWays> =>
  BothWays.start({
    ...issuer.settings,
    PERSISTED_OPERATIONS: fileOf(apolloManifest({ body: LISTED, name: 'Listed' })),
    PERSISTED_OPERATIONS_FRONTENDS: frontends,
    PERSISTED_OPERATIONS_SERVICES: services,
  });

const hash = (text: string): object => ({ persistedQuery: { version: 1, sha256Hash: sha256(text) } });

test('in the mode require a frontend is refused what a service made prepared, in every spelling', async () => {
  const ways = await gatewayIn('require', 'allow');
  await ways.prepare({ query: FREE });
  await ways.byPrepared({ query: FREE });
  for (const body of [
    { query: FREE },
    { query: FREE, operationName: 'Free' },
    { query: FREE, extensions: hash(FREE) },
    { query: FREE, extensions: {} },
    { query: `${FREE} ` },
    { extensions: hash(FREE) },
    { documentId: sha256(FREE) },
    { query: FREE, documentId: sha256(LISTED) },
    { query: FREE, extensions: hash(LISTED) },
  ]) {
    const { told, isPrepared } = await ways.ask({ headers: frontend, body });
    expect(isPrepared).toBe(false);
    expect(told.body).toMatch(/PERSISTED_|BAD_REQUEST/);
    expect(told.body).not.toContain('data');
  }
  expect((await ways.ask({ headers: frontend, body: { query: FREE } })).told.body).toContain(REQUIRED);
  await ways.byPrepared({ query: FREE });
});

test.each([
  ['its id', { documentId: sha256(LISTED) }],
  ['its hash', { extensions: hash(LISTED) }],
  ['its text', { query: LISTED }],
  ['its text with other white space', { query: `# a comment\n${LISTED.replaceAll(' ', '  ')}` }],
  ['its text and its id', { query: LISTED, documentId: sha256(LISTED) }],
])('what is listed is prepared for everybody, also asked by %s', async (_what, body) => {
  const ways = await gatewayIn('require', 'require');
  const byApollo = await ways.askApollo({ headers: frontend, body });
  await ways.ask({ headers: AUTHORIZED, body });
  const { told, isPrepared } = await ways.ask({ headers: frontend, body });
  expect(isPrepared).toBe(true);
  expect(told).toEqual(byApollo);
  expect(told.body).toBe('{"data":{"listed":"Query"}}\n');
});

test('in the mode prefer what is not listed is reported each time, by both ways', async () => {
  const ways = await gatewayIn('prefer', 'prefer');
  const body = { query: FREE, operationName: 'Free' };
  const byApollo = await ways.askApollo({ headers: frontend, body });
  await ways.ask({ headers: frontend, body });
  const { told, isPrepared } = await ways.ask({ headers: frontend, body });
  expect(isPrepared).toBe(true);
  expect(told).toEqual(byApollo);
  expect(told.log).toContainEqual(expect.objectContaining({ level: 40, name: 'Free' }));
});

test('in the mode allow everybody may ask anything, by both ways', async () => {
  const ways = await gatewayIn('allow', 'allow');
  const told = await ways.expectSame({ query: FREE }, frontend);
  expect(told.status).toBe(200);
});

test('a rotated or expired credential opens nothing that is prepared', async () => {
  const ways = await gatewayIn('allow', 'allow');
  await ways.prepare({ query: FREE });
  const bad = [
    undefined,
    'Bearer x',
    'Basic eDp5',
    `${frontend.authorization}x`,
    AUTHORIZED.authorization.slice(0, -1),
  ];
  for (const authorization of bad) {
    const { told, isPrepared } = await ways.ask({ headers: { authorization }, body: { query: FREE } });
    expect([isPrepared, told.status]).toEqual([false, 401]);
  }
});
