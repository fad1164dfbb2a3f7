import { Issuer, goodClaims, newKey, tokenBy } from '../access/support/issuer';
import { OURS, bearer } from '../access/support/rig';
import { apolloManifest, fileOf, sha256 } from '../gateway/fixtures/manifests';
import { EventStream } from './support/event-stream';
import { liveRig, watching, type LiveRig } from './support/live-rig';

const { query: LISTED, variables } = watching();
const FREE = LISTED.replace('Watch', 'Free');
const MUTATION = 'mutation Pay { __typename }';

/** The same operations, as Apollo's and as graphql-codegen's generators write them. */
const MANIFESTS = {
  Apollo: apolloManifest({ body: LISTED, name: 'Watch' }, { body: MUTATION, name: 'Pay' }),
  codegen: JSON.stringify({ [`sha256:${sha256(LISTED)}`]: LISTED, [`sha256:${sha256(MUTATION)}`]: MUTATION }),
};

const hash = (text: string) => ({
  extensions: { persistedQuery: { version: 1, sha256Hash: sha256(text) } },
});

/** The first event of a stream. */
async function first(
  rig: LiveRig,
  asked: object,
  method: 'GET' | 'POST',
  headers?: Record<string, string>,
): Promise<unknown> {
  const stream = await EventStream.open(`${rig.client.url}/stream`, asked, { method, headers });
  const event = await stream.next();
  stream.leave();
  return event;
}

const PENDING = { event: 'next', data: { data: { paymentUpdated: { status: 'PENDING' } } } };
const refused = (code: string) => ({ event: 'next', data: { errors: [{ extensions: { code } }] } });

const WAYS: [how: string, asked: object][] = [
  ['a hash', hash(LISTED)],
  ['a documentId', { documentId: sha256(LISTED) }],
  ['a documentId with its prefix', { documentId: `sha256:${sha256(LISTED)}` }],
  ['its text', { query: LISTED }],
  ['its text and its hash', { query: LISTED, ...hash(LISTED) }],
];

describe.each(Object.entries(MANIFESTS))('With a manifest by %s', (_by, manifest) => {
  const env = { PERSISTED_OPERATIONS: fileOf(manifest), PERSISTED_OPERATIONS_SERVICES: 'require' };
  let rig: LiveRig;

  beforeAll(async () => {
    rig = await liveRig({ env });
  });

  describe.each(['GET', 'POST'] as const)('%s', (method) => {
    test.each(WAYS)('an operation of it begins that is asked by %s', async (_how, asked) => {
      expect(await first(rig, { ...asked, variables }, method)).toEqual(PENDING);
    });

    test('another text is refused where the manifest is required', async () => {
      expect(await first(rig, { query: FREE, variables }, method)).toMatchObject(
        refused('PERSISTED_OPERATION_REQUIRED'),
      );
    });

    test('a hash that it does not have is refused so that the client sends the text', async () => {
      expect(await first(rig, { ...hash(FREE), variables }, method)).toMatchObject(
        refused('PERSISTED_QUERY_NOT_FOUND'),
      );
    });

    test('an id and a text that do not belong together are refused', async () => {
      expect(await first(rig, { query: FREE, ...hash(LISTED), variables }, method)).toMatchObject(
        refused('BAD_REQUEST'),
      );
    });

    test('a mutation of it is not carried out here, by its id either', async () => {
      expect(await first(rig, hash(MUTATION), method)).toMatchObject(refused('BAD_REQUEST'));
    });
  });
});

test('frontends are bound to it, internal services are not', async () => {
  const key = await newKey('ES256');
  const issuer = await Issuer.start(key);
  const rig = await liveRig({ env: { PERSISTED_OPERATIONS: fileOf(MANIFESTS.Apollo), ...issuer.settings } });
  const frontend = bearer(
    await tokenBy(key, { claims: { ...goodClaims(rig.clock.now()), channels: [OURS] } }),
  );
  const free = { query: FREE, variables };
  expect(await first(rig, free, 'POST', frontend)).toMatchObject(refused('PERSISTED_OPERATION_REQUIRED'));
  expect(await first(rig, { ...hash(LISTED), variables }, 'POST', frontend)).toEqual(PENDING);
  expect(await first(rig, free, 'POST')).toEqual(PENDING);
});
