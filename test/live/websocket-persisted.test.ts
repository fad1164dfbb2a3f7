import { Issuer, newKey, tokenBy } from '../access/support/issuer';
import { OURS, bearer } from '../access/support/rig';
import { apolloManifest, fileOf, sha256 } from '../gateway/fixtures/manifests';
import { post } from '../gateway/fixtures/raw';
import { AUTHORIZED } from '../support/credentials';
import { graphqlWsClient } from './support/graphql-ws-client';
import { liveRig, standing, watching, type LiveRig } from './support/live-rig';
import { WireClient, words, type Told } from './support/wire-client';

const LISTED = watching().query;
const FREE = LISTED.replace('Watch', 'Free');
const QUERY = 'query Hello { __typename }';
const TEXTS = [LISTED, QUERY];

/** The same operations, as Apollo's and as graphql-codegen's generators write them. */
const MANIFESTS = {
  Apollo: apolloManifest(...TEXTS.map((body) => ({ body, name: 'Watch' }))),
  codegen: JSON.stringify(Object.fromEntries(TEXTS.map((body) => [`sha256:${sha256(body)}`, body]))),
};

const MODES = ['allow', 'prefer', 'require'] as const;

const hash = (sha256Hash: string) => ({ extensions: { persistedQuery: { version: 1, sha256Hash } } });

const rigIn = (mode: string, manifest = MANIFESTS.Apollo): Promise<LiveRig> =>
  liveRig({ env: { PERSISTED_OPERATIONS: fileOf(manifest), PERSISTED_OPERATIONS_SERVICES: mode } });

/** What comes back for a subscription: a result, or the errors. */
async function asked(rig: LiveRig, payload: object, credentials: object = AUTHORIZED): Promise<unknown> {
  const client = await WireClient.ready(rig.client.url, credentials);
  client.subscribe('a', payload);
  const { type, payload: came } = await client.next();
  client.socket.terminate();
  return type === 'next' ? came : (came as Told[]).map(words);
}

/** What a POST hears; a text that is empty over a socket, where the protocol wants one, is left out there. */
async function byPost(rig: LiveRig, payload: { query: string; variables: object }): Promise<unknown> {
  const { errors } = await post(
    rig.client.url,
    JSON.stringify({ ...payload, query: payload.query || undefined }),
  );
  return (errors as Told[]).map(words);
}

const { variables } = watching();

describe.each(
  MODES.flatMap((mode) => Object.entries(MANIFESTS).map(([by, text]) => [mode, by, text] as const)),
)('In the mode %s, with a manifest by %s', (mode, _by, manifest) => {
  let rig: LiveRig;
  beforeAll(async () => {
    rig = await rigIn(mode, manifest);
  });

  test.each([
    ['as a hash', { query: '', ...hash(sha256(LISTED)) }],
    ['as a documentId', { query: '', documentId: sha256(LISTED) }],
    ['as a documentId with a prefix', { query: '', documentId: `sha256:${sha256(LISTED)}` }],
    ['by its text', { query: LISTED }],
    ['by its text with other white space', { query: `# hi\n${LISTED.replaceAll(' ', '\n ')}` }],
    ['by its text and its hash', { query: LISTED, ...hash(sha256(LISTED)) }],
  ])('an operation of the manifest begins when it is asked %s', async (_how, payload) => {
    expect(await asked(rig, { ...payload, variables })).toEqual(standing('PENDING'));
  });

  test.each([
    ['an id that nobody knows', { query: '', documentId: 'nosuch' }],
    ['a hash that nobody knows', { query: '', ...hash(sha256('nosuch')) }],
    ['the id of one operation with the text of another', { query: FREE, documentId: sha256(LISTED) }],
    ['two ids that contradict each other', { query: '', documentId: sha256(QUERY), ...hash(sha256(LISTED)) }],
  ])('%s is refused as by POST', async (_what, payload) => {
    const refused = await asked(rig, { ...payload, variables });
    expect(refused).toEqual(await byPost(rig, { ...payload, variables }));
    expect(refused).toMatchObject([
      { extensions: { code: expect.stringMatching(/^(PERSISTED_QUERY_NOT_FOUND|BAD_REQUEST)$/) as unknown } },
    ]);
  });

  test('a query of the manifest is no subscription', async () => {
    expect(await asked(rig, { query: '', documentId: sha256(QUERY) })).toMatchObject([
      { extensions: { code: 'BAD_REQUEST' } },
    ]);
  });
});

describe('What is not in the manifest', () => {
  test('allow: begins', async () => {
    const rig = await rigIn('allow');
    expect(await asked(rig, { query: FREE, variables })).toEqual(standing('PENDING'));
    expect(rig.logLines.join('')).not.toContain('PERSISTED_OPERATIONS');
  });

  test('prefer: begins, and the log says so by name', async () => {
    const rig = await rigIn('prefer');
    expect(await asked(rig, { query: FREE, operationName: 'Free', variables })).toEqual(standing('PENDING'));
    const warnings = rig.logLines
      .map((line) => JSON.parse(line) as { msg: string; name?: string })
      .filter(({ msg }) => msg.includes('PERSISTED_OPERATIONS'));
    expect(warnings).toMatchObject([{ name: 'Free' }]);
    expect(JSON.stringify(warnings)).not.toContain('paymentUpdated');
  });

  test.each([
    ['another text', { query: FREE }],
    ['a text that is none', { query: 'nonsense {"' }],
    ['nothing', { query: '' }],
    ['the text with something beside it', { query: `${LISTED} ${FREE}`, operationName: 'Watch' }],
    ['a hash and the text that belongs to it', { query: FREE, ...hash(sha256(FREE)) }],
  ])('require: %s is refused as by POST, and nothing is sent to the service', async (_what, payload) => {
    const rig = await rigIn('require');
    const refused = await asked(rig, { ...payload, variables });
    expect(refused).toEqual(await byPost(rig, { ...payload, variables }));
    expect(refused).toMatchObject([{ extensions: { code: 'PERSISTED_OPERATION_REQUIRED' } }]);
    expect(rig.service.seen).toHaveLength(0);
  });
});

test('Frontends are bound to the manifest, and internal services are not', async () => {
  const key = await newKey('ES256');
  const issuer = await Issuer.start(key);
  const rig = await liveRig({
    env: { ...issuer.settings, PERSISTED_OPERATIONS: fileOf(MANIFESTS.Apollo) },
  });
  const frontend = bearer(await tokenBy(key, { claims: { channels: [OURS] } }));
  expect(await asked(rig, { query: FREE, variables })).toEqual(standing('PENDING'));
  expect(await asked(rig, { query: FREE, variables }, frontend)).toMatchObject([
    { extensions: { code: 'PERSISTED_OPERATION_REQUIRED' } },
  ]);
  expect(await asked(rig, { query: '', documentId: sha256(LISTED), variables }, frontend)).toEqual(
    standing('PENDING'),
  );
});

test('A client of graphql-ws that sends ids alone is served', async () => {
  const rig = await rigIn('require');
  const stream = graphqlWsClient(rig.client.url).iterate({
    query: '',
    variables,
    ...hash(sha256(LISTED)),
  });
  expect((await stream.next()).value).toEqual(standing('PENDING'));
});
