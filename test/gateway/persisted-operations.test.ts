import { readFileSync } from 'node:fs';
import { PersistedOperations } from '../../src/http/persisted/persisted-operations';
import { buildGatewaySchema } from '../../src/resolvers';
import { Issuer, newKey, tokenBy } from '../support/issuer';
import { bearer } from '../auth/support/harness';
import { AUTHORIZED } from '../support/credentials';
import { CHANNEL, testGateway, testSandbox } from '../support/gateway';
import { APOLLO_GENERATED, CODEGEN_GENERATED, apolloManifest, fileOf, sha256 } from '../support/manifests';
import { expectErrors, post, raw } from '../support/raw';

const LISTED =
  'query Payment($channel: UUID!) { payment(channel: $channel, externalId: "none") { __typename } }';
const STATUS = `query Status { payments(channel: "${CHANNEL}", transactionIds: []) { __typename } }`;
const FREE = 'query Free { free: __typename }';
const INTROSPECTION = '{ __schema { queryType { name } } }';
const variables = { channel: CHANNEL };
const ANSWER = { payment: null };

const REQUIRED = 'PERSISTED_OPERATION_REQUIRED';
const NOT_FOUND = 'PERSISTED_QUERY_NOT_FOUND';
const PREFLIGHT = { 'apollo-require-preflight': 'yes' };

const hash = (sha256Hash: string) => ({ persistedQuery: { version: 1 as const, sha256Hash } });

/** Starts a gateway with this mode for internal services; frontends have the default mode. */
async function gatewayIn(mode: 'allow' | 'warn' | 'require', manifest = MANIFEST) {
  const sandbox = await testSandbox();
  const logLines: string[] = [];
  const { url } = await testGateway(sandbox.url, {
    logLines,
    env: { PERSISTED_OPERATIONS: fileOf(manifest), PERSISTED_OPERATIONS_SERVICES: mode },
  });
  const ask = (body: object) => post(url, JSON.stringify(body));
  return { url, ask, logLines };
}

/** The id of one operation is its hash; those of the others are not. Every object has a property `__proto__`. */
const MANIFEST = apolloManifest(
  { body: LISTED },
  { id: 'status-1', name: 'Status', body: STATUS },
  { id: '__proto__', name: 'Proto', body: 'query Proto { proto: __typename }' },
);

/** Expects that an operation runs by its text, and by its hash only after text and hash were sent together. */
async function expectAutomatic(url: string): Promise<void> {
  const ask = (body: object) => post(url, JSON.stringify(body));
  const extensions = hash(sha256(FREE));
  expectErrors(await ask({ extensions }), NOT_FOUND);
  for (const body of [{ query: FREE }, { query: FREE, extensions }, { extensions }])
    expect((await ask(body)).data).toEqual({ free: 'Query' });
  const search = new URLSearchParams({ extensions: JSON.stringify(extensions) });
  expect((await raw(`${url}?${search}`, { headers: PREFLIGHT })).data).toEqual({ free: 'Query' });
  expectErrors(await ask({ query: FREE, extensions: hash(sha256('other')) }), 'BAD_REQUEST');
}

describe.each(['allow', 'warn', 'require'] as const)('With PERSISTED_OPERATIONS_SERVICES=%s,', (mode) => {
  let gateway: Awaited<ReturnType<typeof gatewayIn>>;
  beforeAll(async () => {
    gateway = await gatewayIn(mode);
  });

  test.each([
    ['as the hash of a persisted query', { extensions: hash(sha256(LISTED)) }],
    ['as a documentId with the prefix sha256:', { documentId: `sha256:${sha256(LISTED)}` }],
    ['as text with its documentId', { query: LISTED, documentId: sha256(LISTED) }],
    ['as a documentId and as a hash', { documentId: sha256(LISTED), extensions: hash(sha256(LISTED)) }],
    ['as text with other white space and comments', { query: `# hi\n${LISTED.replaceAll(' ', '\n,')}` }],
  ])('a persisted operation runs when it is sent %s', async (_, body) => {
    const { data, errors, status } = await gateway.ask({ ...body, variables });
    expect({ data, errors, status }).toEqual({ data: ANSWER, errors: undefined, status: 200 });
  });

  test('a persisted operation is found by an id that is not a hash, even in the field sha256Hash', async () => {
    for (const body of [{ documentId: 'status-1' }, { extensions: hash('status-1') }])
      expect((await gateway.ask(body)).data).toEqual({ payments: [] });
    expect((await gateway.ask({ documentId: '__proto__' })).data).toEqual({ proto: 'Query' });
  });

  test('a persisted operation can be sent by GET only with the header apollo-require-preflight', async () => {
    for (const [name, id] of [
      ['documentId', sha256(LISTED)],
      ['extensions', JSON.stringify(hash(sha256(LISTED)))],
    ] as const) {
      const parameters = new URLSearchParams({ [name]: id, variables: JSON.stringify(variables) });
      const url = `${gateway.url}?${parameters}`;
      expect((await raw(url, { headers: PREFLIGHT })).data).toEqual(ANSWER);
      expectErrors(await raw(url), 'BAD_REQUEST');
    }
  });

  test.each(['nobody-knows', '', 'constructor'])(
    'a request with the unknown id "%s" gets the error PersistedQueryNotFound',
    async (id) => {
      for (const body of [{ documentId: id }, { extensions: hash(id) }]) {
        const response = await gateway.ask(body);
        expectErrors(response, NOT_FOUND);
        // Clients compare the message.
        expect(response.errors).toMatchObject([{ message: 'PersistedQueryNotFound' }]);
      }
    },
  );

  test('a persisted operation is refused if the request also has a text, or a second id, that does not belong to it', async () => {
    const [listed, unknown] = [sha256(LISTED), 'nobody-knows'];
    for (const body of [
      { query: FREE, documentId: listed },
      { query: `${LISTED} ${FREE}`, documentId: listed },
      { query: 5, documentId: listed },
      { documentId: 'status-1', extensions: hash(listed) },
      { documentId: unknown, extensions: hash(listed) },
      { documentId: listed, extensions: hash(unknown) },
    ]) {
      const response = await gateway.ask({ ...body, variables });
      expect(response.status).toBe(400);
      expectErrors(response, 'BAD_REQUEST');
    }
  });

  test.each([{}, { query: null }, { documentId: 7 }, { extensions: { persistedQuery: 'a' } }])(
    'a request with neither a text nor an id is refused: %j',
    async (body) => {
      const response = await gateway.ask(body);
      expect(response.data).toBeUndefined();
      expectErrors(response, /^(BAD_REQUEST|PERSISTED_OPERATION_REQUIRED)$/);
    },
  );
});

describe('An operation outside the manifest', () => {
  let required: Awaited<ReturnType<typeof gatewayIn>>;
  beforeAll(async () => {
    required = await gatewayIn('require');
  });

  test('runs with PERSISTED_OPERATIONS_SERVICES=allow, also as an automatic persisted query', async () => {
    const { url, logLines } = await gatewayIn('allow');
    await expectAutomatic(url);
    expect(logLines.join('')).not.toContain('PERSISTED_OPERATIONS');
  });

  test('runs with PERSISTED_OPERATIONS_SERVICES=warn, and its name is logged without its text', async () => {
    const { ask, logLines } = await gatewayIn('warn');
    const name = 'Order12345678';
    for (const [body, warnings] of [
      [{ query: FREE, operationName: 'Free' }, ['Free']],
      [{ query: FREE }, [null]],
      [{ query: `query ${name} { __typename }`, operationName: name }, [null]],
      [{ query: LISTED, variables }, []],
      [{ documentId: sha256(LISTED), variables }, []],
    ] as const) {
      logLines.length = 0;
      expect((await ask(body)).data).toBeTruthy();
      const logged = logLines.filter((line) => line.includes('PERSISTED_OPERATIONS'));
      expect(logged.join('')).not.toContain('__typename');
      expect(logged.map((line) => (JSON.parse(line) as { name: unknown }).name)).toEqual(warnings);
    }
  });

  test.each([
    ['a text that is not in the manifest', { query: FREE }],
    ['introspection', { query: INTROSPECTION }],
    ['a listed and an unlisted operation', { query: `${LISTED} ${FREE}`, operationName: 'Payment' }],
    ['a listed operation with another argument value', { query: LISTED.replace('none', 'some') }],
    ['text that is not GraphQL', { query: 'nonsense {"' }],
    ['a text with its hash', { query: FREE, extensions: hash(sha256(FREE)) }],
    ['a text with an unknown id', { query: FREE, documentId: 'nobody-knows' }],
    ['deeply nested text', { query: `{${'a{'.repeat(24_000)}b${'}'.repeat(24_000)}}` }],
  ])('is refused with PERSISTED_OPERATIONS_SERVICES=require: %s', async (_, body) => {
    const response = await required.ask({ ...body, variables });
    expect({ status: response.status, data: response.data }).toEqual({ status: 400, data: undefined });
    expectErrors(response, REQUIRED);
  });

  test('is refused by GET with PERSISTED_OPERATIONS_SERVICES=require, also if a query parameter is repeated or malformed', async () => {
    const [free, listed] = [FREE, LISTED].map(encodeURIComponent);
    for (const [search, code] of [
      [`query=${free}`, REQUIRED],
      [`query=${listed}&query=${free}`, 'BAD_REQUEST'],
      [`documentId=a&documentId=b&query=${free}`, 'BAD_REQUEST'],
      ['extensions={', 'BAD_REQUEST'],
    ] as const) {
      const response = await raw(`${required.url}?${search}`, { headers: PREFLIGHT });
      expect({ search, data: response.data }).toEqual({ search, data: undefined });
      expectErrors(response, code);
    }
  });
});

test('By default, a manifest restricts frontends, but not internal services, to its operations', async () => {
  const key = await newKey('ES256');
  const issuer = await Issuer.start(key);
  const { url } = await testGateway((await testSandbox()).url, {
    env: { ...issuer.settings, PERSISTED_OPERATIONS: fileOf(MANIFEST) },
  });
  const frontend = bearer(await tokenBy(key, { claims: { channels: [CHANNEL] } }));
  const ask = (body: object, headers: Record<string, string>) => post(url, JSON.stringify(body), headers);

  const registered = { query: FREE, extensions: hash(sha256(FREE)) };
  expect((await ask(registered, AUTHORIZED)).data).toEqual({ free: 'Query' });
  expectErrors(await ask({ query: FREE }, frontend), REQUIRED);
  expectErrors(await ask({ extensions: registered.extensions }, frontend), NOT_FOUND);
  expectErrors(await ask({ query: INTROSPECTION }, frontend), REQUIRED);
  expect((await ask({ documentId: sha256(LISTED), variables }, frontend)).data).toEqual(ANSWER);
});

test('Without a manifest all operations run, also as automatic persisted queries, even with PERSISTED_OPERATIONS_SERVICES=require', async () => {
  const sandbox = await testSandbox();
  const { url } = await testGateway(sandbox.url, { env: { PERSISTED_OPERATIONS_SERVICES: 'require' } });
  await expectAutomatic(url);
});

describe('A generated manifest', () => {
  test.each([
    ["Apollo's generator", APOLLO_GENERATED],
    ["graphql-codegen's client preset", CODEGEN_GENERATED],
  ])('from %s is accepted', async (_, file) => {
    const text = readFileSync(file, 'utf8');
    const { ask } = await gatewayIn('require', text);
    const ids = [...text.matchAll(/"(?:id": ")?((?:sha256:)?[0-9a-f]{64})"/g)].map(([, id = '']) => id);
    expect(ids).toHaveLength(3);
    const responses = await Promise.all(
      ids.flatMap((id) => [ask({ documentId: id, variables }), ask({ extensions: hash(id), variables })]),
    );
    const codes = responses.map(({ errors }) => errors?.[0]?.extensions['code']);
    expect(codes.sort()).toEqual([...Array<string>(4).fill('BAD_USER_INPUT'), undefined, undefined]);
  });
});

describe('A manifest of persisted operations', () => {
  const twice = (first: string, second: string) => `{"a":"{ x: ${first} }","a":"{ x: ${second} }"}`;
  const codegen = (body: string) => JSON.stringify({ 'id-1': body });
  const schema = buildGatewaySchema();

  /** Returns the error lines of a manifest; empty if it is valid. */
  function faultsOf(text: string | Buffer): string[] {
    const modes = { modeForFrontends: 'require', modeForServices: 'allow' } as const;
    const settings = { manifestPath: fileOf(text), ...modes };
    try {
      new PersistedOperations({ settings, schema, onUnlisted: () => undefined });
      return [];
    } catch (error) {
      return (error as Error).message.split('\n').map((line) => line.trim());
    }
  }

  /** Description, content, and the start of the error: operation and rule, or anything if the whole file is invalid. */
  test.each([
    ['text that is not JSON', 'id: abc', /^/],
    ['text in Latin-1', Buffer.from(codegen('{ __typename } # \u00fc'), 'latin1'), /^/],
    ['an unknown format', '{"format":"other","version":1,"operations":[]}', /^/],
    ['no operation', apolloManifest(), /^/],
    ['an operation without id', apolloManifest({ body: LISTED }, { id: '', body: FREE }), /^operation 2: /],
    [
      'a field that does not exist',
      apolloManifest({ id: 'id-1', name: 'Old', body: '{ gone }' }),
      /^operation Old \(id-1\): FieldsOnCorrectTypeRule: .*"gone"/,
    ],
    ['a document with a syntax error', codegen('{ "4111111111111111'), /^operation id-1: /],
    [
      'two documents with one hash',
      apolloManifest({ id: sha256(''), body: LISTED }, { id: `sha256:${sha256('')}`, body: FREE }),
      /^operation /,
    ],
    ["two documents with one id in codegen's format", twice('__typename', 'y: __typename'), /^/],
  ])('is refused when it has %s', (_, text, named) => {
    const faults = faultsOf(text);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatch(named);
    expect(faults.join()).not.toContain('4111');
  });

  test('is refused with an error that names every invalid operation', () => {
    const faults = faultsOf(JSON.stringify({ a: '{ x }', b: '{ __typename }', c: '{ y }' }));
    expect(faults.map((fault) => fault.split(':')[0])).toEqual(['operation a', 'operation c']);
  });

  test.each([fileOf('{}'), '/nowhere/manifest.json'])(
    'that is invalid or missing prevents the start of the gateway: %s',
    async (file) => {
      const starting = testGateway('http://127.0.0.1:9/', { env: { PERSISTED_OPERATIONS: file } });
      await expect(starting).rejects.toMatchObject({
        errors: [expect.stringMatching(/^PERSISTED_OPERATIONS: /)],
      });
    },
  );
});
