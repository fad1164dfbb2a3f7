import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ApolloClient, ApolloLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { Client, cacheExchange, fetchExchange } from '@urql/core';
import {
  getOperationAST,
  parse,
  print,
  type DefinitionNode,
  type DocumentNode,
  type OperationTypeNode,
} from 'graphql';
import { lastValueFrom, of } from 'rxjs';
import * as kit from '@paygraph/client';
import {
  TRANSFORM_BY_CLIENT,
  readClientOperations,
  findDocumentFiles,
  type ClientOperation,
} from '../../src/cli/client-documents';
import { buildGatewaySchema } from '../../src/resolvers';
import { APOLLO_GENERATED, SHOP, sha256, temporaryFolder } from '../support/manifests';
import { CHECKOUT } from '../support/program';

function persist(args: string[], files: Record<string, string> = {}) {
  const folder = folderOf(files);
  const program = [path.join(CHECKOUT, 'bin/paygraph.mjs'), 'persist', ...args];
  const ended = spawnSync(process.execPath, program, { cwd: folder, encoding: 'utf8' });
  const read = (name = 'persisted-operations.json') => readFileSync(path.join(folder, name), 'utf8');
  return { ...ended, folder, read };
}

function folderOf(files: Record<string, string>): string {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    writeFileSync(path.join(folder, name), text);
  }
  return folder;
}

const schema = buildGatewaySchema();

const operationsIn = (
  place: string,
  client: keyof typeof TRANSFORM_BY_CLIENT = 'apollo',
): ClientOperation[] => readClientOperations(findDocumentFiles([place]), schema, TRANSFORM_BY_CLIENT[client]);

const idsByName = (operations: readonly ClientOperation[]) =>
  Object.fromEntries(operations.map(({ name, id }) => [name, id]));

const OPERATIONS = path.join(CHECKOUT, 'client/operations');
const DOCUMENTS = Object.values(kit).filter((value): value is DocumentNode & typeof value => 'kind' in value);
const typeOf = (document: DocumentNode): OperationTypeNode | undefined =>
  getOperationAST(document)?.operation;
const ALL = DOCUMENTS.filter((document) => typeOf(document) !== undefined);

describe('A manifest that npm run persist writes', () => {
  test("equals byte for byte the output of Apollo's generator", () => {
    const older = { 'persisted-operations.json': 'x'.repeat(100_000) };
    const { status, stdout, folder, read } = persist([SHOP], older);
    expect(status).toBe(0);
    // The new manifest replaces the older one, and no other file is created.
    expect(readdirSync(folder)).toEqual(['persisted-operations.json']);
    expect(read()).toBe(readFileSync(APOLLO_GENERATED, 'utf8'));
    const { Pay } = idsByName((JSON.parse(read()) as { operations: ClientOperation[] }).operations);
    expect(stdout).toMatch(new RegExp(`^${Pay} +mutation +Pay$`, 'm'));
    expect(stdout).toContain('PERSISTED_OPERATIONS=persisted-operations.json');
  });

  test('does not depend on the order of the files, and has the format of graphql-codegen with --format codegen', () => {
    const places = ['status', 'fragments.graphql', 'pay.graphql', '.'].map((name) => path.join(SHOP, name));
    const { read } = persist(['--out', 'other.json', '--format', 'codegen', ...places]);
    const expected = operationsIn(SHOP).map(({ id, body }) => [id, body]);
    expect(JSON.parse(read('other.json'))).toEqual(Object.fromEntries(expected));
  });

  test('contains no operations from node_modules or hidden folders', () => {
    const folder = folderOf({
      'a.graphql': 'query A { __typename }',
      'node_modules/b.graphql': 'query B { __typename }',
      '.cache/c.graphql': 'query C { __typename }',
      'deep/er/d.gql': 'query D { __typename }',
      'notes.txt': 'not GraphQL',
    });
    expect(operationsIn(folder).map(({ name }) => name)).toEqual(['A', 'D']);
  });

  test('for --client plain contains the original text of each operation, with the fragments that it needs', () => {
    const operations = operationsIn(SHOP, 'plain');
    const [attempts] = operations;
    expect(attempts?.body).toMatch(/^query Attempts[^]*fragment AmountFacts[^]*fragment PaymentFacts/);
    expect(attempts?.body).not.toMatch(/Unused|Failure/);
    expect(attempts?.body.match(/__typename/g)).toHaveLength(1);
    expect(operations.every(({ id, body }) => id === sha256(body))).toBe(true);
  });
});

describe('The operation ids in a manifest', () => {
  /** Returns the persisted-query id that Apollo Client sends for each operation, by operation name. */
  async function sentByApollo(documents: readonly DocumentNode[], hash: (document: DocumentNode) => string) {
    const sent: Record<string, unknown> = {};
    const persisted = new PersistedQueryLink({ generateHash: (document) => Promise.resolve(hash(document)) });
    const recording = new ApolloLink(({ operationName = '', extensions }) => {
      sent[operationName] = (extensions['persistedQuery'] as { sha256Hash: string }).sha256Hash;
      return of({ data: null });
    });
    const client = new ApolloClient({ link: persisted.concat(recording), cache: new InMemoryCache() });
    for (const document of documents) {
      const type = typeOf(document);
      if (type === 'mutation') await client.mutate({ mutation: document, fetchPolicy: 'no-cache' });
      else if (type === 'query') await client.query({ query: document, fetchPolicy: 'no-cache' });
      // A response without data ends a subscription without a value.
      else await lastValueFrom(client.subscribe({ query: document }), { defaultValue: undefined });
    }
    return sent;
  }

  /** Orders definitions as Apollo's generatePersistedQueryIdsAtRuntime does: the operation, then fragments by name. */
  const inApollosOrder = (document: DocumentNode): DocumentNode => {
    const key = (node: DefinitionNode) =>
      node.kind === 'FragmentDefinition' ? node.name.value : ' the operation';
    return { ...document, definitions: document.definitions.toSorted((a, b) => (key(a) < key(b) ? -1 : 1)) };
  };

  test('equal the ids that Apollo Client sends when it hashes operations at run time', async () => {
    const ids = idsByName(operationsIn(OPERATIONS));
    const sent = await sentByApollo(ALL, (document) => sha256(print(inApollosOrder(document))));
    expect(Object.keys(sent)).toHaveLength(ALL.length);
    expect(ids).toEqual(sent);
  });

  test('equal the ids that Apollo Client sends after it has removed client-only directives', async () => {
    const text = `
      query Masked($channel: UUID!, $ids: [UUID!]!) {
        payments(channel: $channel, transactionIds: $ids) @connection(key: "shop") {
          ...Facts @unmask
        }
        __typename @nonreactive
      }
      fragment Facts on PaymentResource { id }
    `;
    const ids = idsByName(operationsIn(folderOf({ 'a.graphql': text })));
    expect(await sentByApollo([parse(text)], (document) => sha256(print(document)))).toEqual(ids);
  });

  test('equal the hashes of the operation texts that urql sends', async () => {
    const ids = idsByName(operationsIn(OPERATIONS, 'urql'));
    const sent: Record<string, string> = {};
    const client = new Client({
      url: 'http://localhost/graphql',
      exchanges: [cacheExchange, fetchExchange],
      preferGetMethod: false,
      fetchSubscriptions: true,
      fetch: (_url, init) => {
        const { query, operationName } = JSON.parse(String(init?.body)) as Record<string, string>;
        sent[operationName ?? ''] = sha256(query ?? '');
        return Promise.resolve(Response.json({ data: null }));
      },
    });
    for (const document of ALL)
      await new Promise((resolve) => client[typeOf(document) ?? 'query'](document, {}).subscribe(resolve));
    expect(Object.keys(sent)).toHaveLength(ALL.length);
    expect(ids).toMatchObject(sent);
  });
});

describe('An error in a document', () => {
  /** Returns the error lines, with paths relative to the folder. */
  function faultsIn(text: string): string[] {
    const folder = folderOf({ 'a.graphql': text });
    try {
      operationsIn(folder);
    } catch (error) {
      return (error as Error).message.replaceAll(`${folder}/`, '').split('\n');
    }
    return [];
  }

  test('makes npm run persist exit with 1 and write no manifest', () => {
    const text = 'query A {\n  wrong\n}';
    const files = { 'shop/a.graphql': text, 'b.graphql': text };
    const { status, stdout, stderr, folder } = persist(['.'], files);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toMatch(/^b\.graphql:2: FieldsOnCorrectTypeRule: .*"wrong"/m);
    expect(stderr).toMatch(/^shop\/a\.graphql:2: FieldsOnCorrectTypeRule: .*"wrong"/m);
    expect(stderr).toMatch(/^b\.graphql:1: UniqueOperationNamesRule: .*"A".*also shop\/a\.graphql:1/m);
    expect(readdirSync(folder).sort()).toEqual(['b.graphql', 'shop']);
  });

  test.each([
    ['a syntax error', 'query A {\n  payment(', /^a\.graphql:2: /],
    ['an operation without a name', 'query A { __typename }\n\n{ __typename }', /^a\.graphql:3: /],
    [
      'an unknown field in an unused fragment',
      'query A { __typename }\nfragment F on Amount { wrong }',
      /^a\.graphql:2: FieldsOnCorrectTypeRule: .*"wrong"/,
    ],
    ['a schema among the documents', 'type Query { a: Int }', /^a\.graphql:1: ExecutableDefinitionsRule: /],
  ])('is reported with its file, line and cause: %s', (_, text, fault) => {
    expect(faultsIn(text)).toContainEqual(expect.stringMatching(fault));
  });

  test('is reported without the card number that the document contains', () => {
    const faults = faultsIn('query A {\n  attempts(channel: 4111111111111111) { __typename }\n}');
    expect(faults).toContainEqual(expect.stringMatching(/^a\.graphql:2: ValuesOfCorrectTypeRule/));
    expect(faults.join()).not.toContain('4111');
  });
});

describe('A usage error of npm run persist', () => {
  const DOCUMENT = { 'a.graphql': 'query A { __typename }' };

  test.each([
    ['no arguments', [], 'paths'],
    ['an unknown client', ['a.graphql', '--client', 'constructor'], '--client'],
    ['an unknown option', ['a.graphql', '--typename'], '--typename'],
    ['an output in a folder that does not exist', ['a.graphql', '--out', 'gone/m.json'], 'gone/m.json'],
    ['a folder without documents', ['empty'], 'empty'],
  ])('is reported, and the exit code is 2: %s', (_, args, named) => {
    const { status, stdout, stderr, folder } = persist(args, { ...DOCUMENT, 'empty/notes.txt': '' });
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(named);
    expect(stderr).not.toMatch(/^ {4}at /m);
    expect(readdirSync(folder).sort()).toEqual(['a.graphql', 'empty']);
  });
});
