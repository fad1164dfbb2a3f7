import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { CombinedGraphQLErrors, ServerError } from '@apollo/client/errors';
import {
  Client,
  cacheExchange,
  createRequest,
  fetchExchange,
  formatDocument,
  stringifyDocument,
} from '@urql/core';
import { parse, type DocumentNode } from 'graphql';
import possibleTypes from '../../possible-types.json';
import { CLIENTS, clientOperations, documentFiles } from '../../src/cli/client-documents';
import { gatewaySchema } from '../../src/resolvers';
import { PaymentDocument, PayoutDocument, CreatePayoutDocument } from '../generated/operations';
import { Issuer, newKey, tokenBy } from '../access/support/issuer';
import { bearer } from '../access/support/rig';
import { payoutInput } from '../clients/samples';
import { AUTHORIZED } from '../support/credentials';
import { CHANNEL, testGateway, testSandbox } from '../support/gateway';
import { APOLLO_GENERATED, CODEGEN_GENERATED, apolloManifest, fileOf, sha256 } from './fixtures/manifests';
import { expectErrors, post, raw } from './fixtures/raw';

const OPERATIONS = path.resolve(__dirname, '../clients/operations');

type Mode = 'allow' | 'prefer' | 'require';

const LISTED =
  'query Payment($channel: UUID!) { payment(channel: $channel, externalId: "none") { __typename } }';
const TOLD_APART = 'query Status { payments(channel: "c", transactionIds: []) { __typename } }'.replace(
  '"c"',
  `"${CHANNEL}"`,
);
const FREE = 'query Free { free: __typename }';
const INTROSPECTION = '{ __schema { queryType { name } } }';
const variables = { channel: CHANNEL };
const ANSWER = { payment: null };

const REQUIRED = 'PERSISTED_OPERATION_REQUIRED';
const NOT_FOUND = 'PERSISTED_QUERY_NOT_FOUND';

const hash = (sha256Hash: string) => ({ persistedQuery: { version: 1 as const, sha256Hash } });

/** A gateway for internal services in that mode; frontends' mode is another. */
async function gatewayIn(mode: Mode, manifest: string | Buffer = MANIFEST, env: Record<string, string> = {}) {
  const sandbox = await testSandbox();
  const logLines: string[] = [];
  const { url } = await testGateway(sandbox.url, {
    logLines,
    env: { PERSISTED_OPERATIONS: fileOf(manifest), PERSISTED_OPERATIONS_SERVICES: mode, ...env },
  });
  const ask = (body: object) => post(url, JSON.stringify(body));
  return { url, ask, logLines, sandbox };
}

/** Ids that are no hash, as a manifest may have; the last ones are names of every object. */
const MANIFEST = apolloManifest(
  { body: LISTED },
  { id: 'status-1', name: 'Status', body: TOLD_APART },
  { id: '__proto__', name: 'Proto', body: 'query Proto { proto: __typename }' },
);

describe.each(['allow', 'prefer', 'require'] as const)('In the mode %s', (mode) => {
  let gateway: Awaited<ReturnType<typeof gatewayIn>>;
  beforeAll(async () => {
    gateway = await gatewayIn(mode);
  });

  test.each([
    ['as the hash of a persisted query', { extensions: hash(sha256(LISTED)) }],
    ['as a documentId', { documentId: sha256(LISTED) }],
    ['as a documentId with the prefix of GraphQL over HTTP', { documentId: `sha256:${sha256(LISTED)}` }],
    ['beside an empty text', { query: '', documentId: sha256(LISTED) }],
    ['beside its own text', { query: LISTED, documentId: sha256(LISTED) }],
    ['twice', { documentId: sha256(LISTED), extensions: hash(sha256(LISTED)) }],
    ['beside other extensions', { extensions: { ...hash(sha256(LISTED)), other: 1 } }],
    ['by no id, as the text itself', { query: LISTED }],
    [
      'as the text with other white space, commas and comments',
      { query: `# hi\n${LISTED.replaceAll(' ', '\n,')}` },
    ],
  ])('an operation of the manifest runs when it is asked %s', async (_, body) => {
    const { data, errors, status } = await gateway.ask({ ...body, variables });
    expect({ data, errors, status }).toEqual({ data: ANSWER, errors: undefined, status: 200 });
  });

  test('an id need not be a hash, also where it comes as one', async () => {
    const answers = [
      await gateway.ask({ documentId: 'status-1' }),
      await gateway.ask({ extensions: hash('status-1') }),
      await gateway.ask({ documentId: '__proto__' }),
    ];
    const data = [{ payments: [] }, { payments: [] }, { proto: 'Query' }];
    expect(answers.map((answer) => answer.data)).toEqual(data);
  });

  test('an operation of the manifest can be asked by GET, with a header that no form can send', async () => {
    const asked = new URLSearchParams({ documentId: sha256(LISTED), variables: JSON.stringify(variables) });
    const hashed = new URLSearchParams({
      extensions: JSON.stringify(hash(sha256(LISTED))),
      variables: JSON.stringify(variables),
    });
    const headers = { 'apollo-require-preflight': 'yes' };
    for (const parameters of [asked, hashed]) {
      expect((await raw(`${gateway.url}?${parameters}`, { headers })).data).toEqual(ANSWER);
    }
    expectErrors(await raw(`${gateway.url}?${asked}`), 'BAD_REQUEST');
  });

  test.each(['nobody-knows', '', 'constructor', 'toString', 'hasOwnProperty'])(
    'the id "%s" is not known, and a client is told to send the text',
    async (id) => {
      const answers = [await gateway.ask({ documentId: id }), await gateway.ask({ extensions: hash(id) })];
      for (const answer of answers) {
        expectErrors(answer, NOT_FOUND);
        expect(answer.errors).toMatchObject([
          { message: 'PersistedQueryNotFound', extensions: { retryable: true } },
        ]);
      }
    },
  );

  test('a text that is not the one of its id is refused', async () => {
    for (const query of [FREE, `${LISTED} ${FREE}`, 'nonsense {', 5]) {
      const answer = await gateway.ask({ query, documentId: sha256(LISTED), variables });
      expect(answer.status).toBe(400);
      expectErrors(answer, 'BAD_REQUEST');
    }
  });

  test('two ids that do not stand for the same operation are refused', async () => {
    const [listed, other, unknown] = [sha256(LISTED), 'status-1', 'nobody-knows'];
    for (const [documentId, sha256Hash] of [
      [other, listed],
      [unknown, listed],
      [listed, unknown],
    ] as const) {
      const answer = await gateway.ask({ documentId, extensions: hash(sha256Hash), variables });
      expectErrors(answer, 'BAD_REQUEST');
    }
  });

  test('what is neither text nor id is refused', async () => {
    for (const body of [
      {},
      { query: null },
      { documentId: 7 },
      { extensions: { persistedQuery: 'a' } },
      { variables },
    ]) {
      const answer = await gateway.ask(body);
      expect({ body, data: answer.data }).toEqual({ body, data: undefined });
      expectErrors(answer, /^(BAD_REQUEST|PERSISTED_OPERATION_REQUIRED)$/);
    }
  });
});

describe('What is not in the manifest', () => {
  test('allow: runs, and automatic persisted queries work as ever', async () => {
    const { ask, logLines } = await gatewayIn('allow');
    expect((await ask({ query: FREE })).data).toEqual({ free: 'Query' });
    expect((await ask({ query: FREE, extensions: hash(sha256(FREE)) })).data).toEqual({ free: 'Query' });
    expect((await ask({ extensions: hash(sha256(FREE)) })).data).toEqual({ free: 'Query' });
    expectErrors(await ask({ query: FREE, extensions: hash(sha256('other')) }), 'BAD_REQUEST');
    expect(logLines.join('')).not.toContain('PERSISTED_OPERATIONS');
  });

  test('prefer: runs, and the log says so by name, never by text', async () => {
    const { ask, logLines } = await gatewayIn('prefer');
    const asked = async (body: object): Promise<unknown[]> => {
      logLines.length = 0;
      expect((await ask(body)).data).toBeTruthy();
      const warnings = logLines.filter((line) => line.includes('PERSISTED_OPERATIONS'));
      expect(warnings.join('')).not.toContain('__typename');
      return warnings.map((line) => (JSON.parse(line) as { name: unknown }).name);
    };
    expect(await asked({ query: FREE, operationName: 'Free' })).toEqual(['Free']);
    expect(await asked({ query: FREE })).toEqual([null]);
    const name = 'Order12345678';
    expect(await asked({ query: `query ${name} { __typename }`, operationName: name })).toEqual([null]);
    expect(await asked({ query: LISTED, variables })).toEqual([]);
    expect(await asked({ documentId: sha256(LISTED), variables })).toEqual([]);
  });

  test.each([
    ['another text', { query: FREE }],
    ['introspection', { query: INTROSPECTION }],
    [
      'an operation of the manifest with something beside it',
      { query: `${LISTED} ${FREE}`, operationName: 'Payment' },
    ],
    ['an operation of the manifest with another value', { query: LISTED.replace('none', 'some') }],
    ['no GraphQL', { query: 'nonsense {"' }],
    ['a hash and the text that belongs to it', { query: FREE, extensions: hash(sha256(FREE)) }],
    ['an unknown id and another text', { query: FREE, documentId: 'nobody-knows' }],
    ['something that is no text', { query: ['a'] }],
  ])('require: %s is refused', async (_, body) => {
    const { ask } = await required;
    const answer = await ask({ ...body, variables });
    expect({ status: answer.status, data: answer.data }).toEqual({ status: 400, data: undefined });
    expectErrors(answer, REQUIRED);
  });

  test('require: by GET it is refused as well, however the address is written', async () => {
    const { url } = await required;
    const headers = { 'apollo-require-preflight': 'yes' };
    const free = encodeURIComponent(FREE);
    const listed = encodeURIComponent(LISTED);
    const refusals: [search: string, code: string][] = [
      [`query=${free}`, REQUIRED],
      [`query=${listed}&query=${free}`, 'BAD_REQUEST'],
      [`documentId=a&documentId=b&query=${free}`, 'BAD_REQUEST'],
      ['extensions={', 'BAD_REQUEST'],
    ];
    for (const [search, code] of refusals) {
      const answer = await raw(`${url}?${search}`, { headers });
      expect({ search, data: answer.data }).toEqual({ search, data: undefined });
      expectErrors(answer, code);
    }
  });

  test('require: introspection runs when the manifest has it', async () => {
    const { ask } = await gatewayIn('require', apolloManifest({ id: 'schema', body: INTROSPECTION }));
    expect((await ask({ documentId: 'schema' })).data).toEqual({
      __schema: { queryType: { name: 'Query' } },
    });
  });

  test('a deep or long document is told apart at once', async () => {
    const { ask } = await required;
    const deep = `{${'a{'.repeat(24_000)}b${'}'.repeat(24_000)}}`;
    for (const query of [deep, '['.repeat(90_000), '#'.repeat(90_000), `"${'\\u0041'.repeat(12_000)}"`]) {
      expectErrors(await ask({ query }), REQUIRED);
    }
  });

  let required: ReturnType<typeof gatewayIn>;
  beforeAll(() => {
    required = gatewayIn('require');
    return required;
  });
});

test('with nothing but a manifest set, frontends are bound to it and internal services are not', async () => {
  const key = await newKey('ES256');
  const issuer = await Issuer.start(key);
  const sandbox = await testSandbox();
  const { url } = await testGateway(sandbox.url, {
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

test('without a manifest nothing is looked at, whatever the modes say', async () => {
  const sandbox = await testSandbox();
  const { url } = await testGateway(sandbox.url, { env: { PERSISTED_OPERATIONS_SERVICES: 'require' } });
  expect((await post(url, JSON.stringify({ query: FREE }))).data).toEqual({ free: 'Query' });
});

describe('Manifests of the usual tools', () => {
  test.each([
    ["Apollo's generator", APOLLO_GENERATED],
    ["graphql-codegen's client preset", CODEGEN_GENERATED],
  ])('%s', async (_, file) => {
    const text = readFileSync(file, 'utf8');
    const { ask } = await gatewayIn('require', text);
    const ids = [...text.matchAll(/"(?:id": ")?((?:sha256:)?[0-9a-f]{64})"/g)].map(([, id = '']) => id);
    expect(ids).toHaveLength(3);
    const answers = await Promise.all(
      ids.flatMap((id) => [ask({ documentId: id, variables }), ask({ extensions: hash(id), variables })]),
    );
    // Two of the operations ask what their resolvers refuse: they were found, and run.
    const codes = answers.map(({ errors }) => errors?.[0]?.extensions['code']);
    const refused = codes.filter((code) => code !== undefined);
    expect({ answered: codes.length - refused.length, refused }).toEqual({
      answered: 2,
      refused: Array<string>(4).fill('BAD_USER_INPUT'),
    });
  });
});

describe('A manifest that cannot be used keeps the gateway from starting', () => {
  const twice = (first: string, second: string) => `{"a":"{ x: ${first} }","a":"{ x: ${second} }"}`;
  const codegen = (body: string) => JSON.stringify({ 'id-1': body });

  test.each([
    ['no JSON', 'id: abc', /it is not JSON/],
    ['text in Latin-1', Buffer.from(codegen('{ __typename } # \u00fc'), 'latin1'), /it is not UTF-8/],
    ['no object', '["a"]', /expected Apollo's manifest .* or graphql-codegen's/],
    ['another format', '{"format":"other","version":1,"operations":[]}', /expected Apollo's manifest/],
    [
      'another version',
      apolloManifest({ body: LISTED }).replace('"version":1', '"version":2'),
      /"version": 1/,
    ],
    ['no texts', '{"a":{"body":"{ __typename }"}}', /expected Apollo's manifest/],
    ['no operation', apolloManifest(), /it holds no operation/],
    ['an empty object', '{}', /it holds no operation/],
    [
      'an operation without an id',
      apolloManifest({ body: LISTED }, { id: '', body: FREE }),
      /operation 2: expected texts/,
    ],
    [
      'a field that is not there',
      apolloManifest({ id: 'id-1', name: 'Old', body: '{ gone }' }),
      /operation Old \(id-1\): FieldsOnCorrectTypeRule: .*"gone"/,
    ],
    ['a document that is none', codegen('{ "4111111111111111'), /operation id-1: Syntax Error/],
    [
      'a missing fragment',
      codegen('{ __typename ...Gone }'),
      /operation id-1: KnownFragmentNamesRule: .*"Gone"/,
    ],
    [
      'fragments only',
      codegen('fragment F on Query { __typename }'),
      /operation id-1: its document holds no operation/,
    ],
    [
      'two documents of one id',
      apolloManifest({ id: 'id-1', body: LISTED }, { id: 'id-1', body: FREE }),
      /operation id-1: two different documents/,
    ],
    [
      'two documents of one hash',
      apolloManifest({ id: sha256(''), body: LISTED }, { id: `sha256:${sha256('')}`, body: FREE }),
      /two different documents/,
    ],
    [
      "two documents of one id in codegen's format",
      twice('__typename', 'y: __typename'),
      /a name stands twice in one object/,
    ],
  ])('%s', async (_, text, says) => {
    const starting = gatewayIn('allow', text);
    await expect(starting).rejects.toThrow(/PERSISTED_OPERATIONS/);
    await expect(starting).rejects.toThrow(says);
    await expect(starting).rejects.not.toThrow(/4111/);
  });

  test('no such file', async () => {
    const starting = gatewayIn('allow', MANIFEST, { PERSISTED_OPERATIONS: '/nowhere/manifest.json' });
    await expect(starting).rejects.toThrow(/PERSISTED_OPERATIONS: it cannot be read \(ENOENT\)/);
  });

  test('every faulty operation is named at once', async () => {
    const starting = gatewayIn('allow', JSON.stringify({ a: '{ x }', b: '{ __typename }', c: '{ y }' }));
    await expect(starting).rejects.toThrow(/operation a: [^]*operation c: /);
    await expect(starting).rejects.not.toThrow(/operation b/);
  });

  test('the same operation twice is fine', async () => {
    const { ask } = await gatewayIn(
      'require',
      apolloManifest({ body: FREE }, { body: FREE }, { id: 'b', body: FREE }),
    );
    expect((await ask({ documentId: 'b' })).data).toEqual({ free: 'Query' });
  });
});

describe('Clients that send ids', () => {
  /** Whatever they send is kept. */
  function recorder() {
    const bodies: Record<string, unknown>[] = [];
    const recording: typeof fetch = (target, init) => {
      bodies.push(JSON.parse(String(init?.body)) as Record<string, unknown>);
      return fetch(target, init);
    };
    return { bodies, recording };
  }

  async function started(client: keyof typeof CLIENTS = 'apollo') {
    const operations = clientOperations(documentFiles([OPERATIONS]), gatewaySchema(), CLIENTS[client]);
    const manifest = { format: 'apollo-persisted-query-manifest', version: 1, operations };
    return { ...(await gatewayIn('require', JSON.stringify(manifest))), operations };
  }

  function apollo(uri: string, options: PersistedQueryLink.Options) {
    const { bodies, recording } = recorder();
    const http = new HttpLink({ uri, fetch: recording, headers: AUTHORIZED });
    const link = new PersistedQueryLink(options).concat(http);
    return { bodies, client: new ApolloClient({ link, cache: new InMemoryCache(possibleTypes) }) };
  }

  /** The codes in what Apollo Client throws, which is another class of error for each content type. */
  function codesIn(error: unknown): unknown[] {
    const errors = ServerError.is(error)
      ? (JSON.parse(error.bodyText) as { errors: { extensions: { code: string } }[] }).errors
      : CombinedGraphQLErrors.is(error)
        ? error.errors
        : [];
    return errors.map(({ extensions }) => extensions?.['code']);
  }

  const createPayout = { mutation: CreatePayoutDocument, variables: { input: payoutInput() } };

  test('Apollo Client with ids of the manifest by name never sends a document', async () => {
    const { url, operations } = await started();
    const idOf = ({ definitions }: DocumentNode): string => {
      const names = definitions.flatMap((node) =>
        node.kind === 'OperationDefinition' ? node.name?.value : [],
      );
      return operations.find(({ name }) => name === names[0])?.id ?? '';
    };
    const { client, bodies } = apollo(url, { generateHash: (document) => Promise.resolve(idOf(document)) });
    const looked = await client.query({
      query: PaymentDocument,
      variables: { ...variables, externalId: 'none' },
    });
    const created = await client.mutate(createPayout);
    expect(looked.data).toEqual(ANSWER);
    expect(created.data?.createPayout.__typename).toBe('PayoutSuccess');
    expect(bodies.map((body) => 'query' in body)).toEqual([false, false]);
  });

  test('Apollo Client with its own hashes: where fragments stand in another order it sends the document once', async () => {
    const { url } = await started();
    const { client, bodies } = apollo(url, { sha256 });
    await client.query({ query: PayoutDocument, variables: { ...variables, externalId: 'none' } });
    expect(bodies.map((body) => 'query' in body)).toEqual([false]);
    const { data } = await client.mutate(createPayout);
    expect(data?.createPayout.__typename).toBe('PayoutSuccess');
    expect(bodies.map((body) => 'query' in body)).toEqual([false, false, true]);
  });

  test('Apollo Client with an operation that is not in the manifest gets the error, and nothing has run', async () => {
    const { url, sandbox } = await started();
    const { client } = apollo(url, { sha256 });
    const query = parse(
      'query Unlisted($channel: UUID!) { payment(channel: $channel, externalId: "x") { __typename } }',
    );
    const { error } = await client.query({ query, variables, errorPolicy: 'all' });
    expect(codesIn(error)).toEqual([REQUIRED]);
    expect(sandbox.control.counts().payment.lookups).toBe(0);
  });

  test('urql with its own hashes never sends a document where the manifest is made for urql', async () => {
    const { url } = await started('urql');
    const { bodies, recording } = recorder();
    const client = new Client({
      url,
      exchanges: [cacheExchange, fetchExchange],
      preferGetMethod: false,
      fetch: recording,
      fetchOptions: { headers: AUTHORIZED },
    });
    // As its persistedExchange does.
    const persisted = (document: DocumentNode) => hash(sha256(stringifyDocument(formatDocument(document))));
    const look = createRequest(
      PaymentDocument,
      { ...variables, externalId: 'none' },
      persisted(PaymentDocument),
    );
    const create = createRequest(
      CreatePayoutDocument,
      { input: payoutInput() },
      persisted(CreatePayoutDocument),
    );
    expect((await client.executeQuery(look)).data).toEqual(ANSWER);
    expect((await client.executeMutation(create)).data?.createPayout.__typename).toBe('PayoutSuccess');
    expect(bodies.map((body) => 'query' in body)).toEqual([false, false]);
  });
});
