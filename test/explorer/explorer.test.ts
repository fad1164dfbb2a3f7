import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { once } from 'node:events';
import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import path from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { getVariableValues } from 'graphql/execution/values';
import {
  isEnumType,
  isInputObjectType,
  Kind,
  parse,
  validate,
  type GraphQLSchema,
  type OperationDefinitionNode,
} from 'graphql';
import { KnownIds } from '../../explorer/known-ids';
import { createExamples, type Example } from '../../explorer/operations';
import { createStorage } from '../../explorer/storage';
import { gatewaySchema } from '../../src/resolvers';
import type { Sandbox } from '../../src/sandbox/server';
import { startOpenGateway } from '../http/support/open-gateway';
import { graphqlWsClient } from '../subscriptions/support/graphql-ws-client';

import { CHANNEL, closeAfterTests, testGateway, testSandbox, type TestClient } from '../support/gateway';
import { fakeClock } from '../support/fake-clock';

const BUILT = path.resolve(__dirname, '../../dist/explorer');

interface RawResponse {
  status: number | undefined;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Requests exactly this path, which fetch would normalise, and returns the raw bytes. */
async function get(base: string, path: string, sent = {}, method = 'GET'): Promise<RawResponse> {
  const asking = request(base, { path, headers: sent, method, agent: false }).end();
  const [response] = (await once(asking, 'response')) as [IncomingMessage];
  const { statusCode: status, headers } = response;
  return { status, headers, body: Buffer.concat((await response.toArray()) as Buffer[]) };
}

let sandboxUrl: string;
let url: string;
let assets: string[];

const open = async (env: Record<string, string> = {}): Promise<string> =>
  closeAfterTests(await startOpenGateway(sandboxUrl, env)).url;

beforeAll(async () => {
  assets = readdirSync(BUILT).filter((name) => !/\.(html|br|gz)$/.test(name));
  sandboxUrl = (await testSandbox()).url;
  url = await open();
});

describe('The page of the explorer', () => {
  test('exists without configuration, and names the sandbox as its service', async () => {
    const { status, headers, body } = await get(url, '/explorer');
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(String(body)).toContain('data-service="sandbox" data-callers="anybody"');
  });

  test('has a content security policy that allows only this gateway, and no eval', async () => {
    const { headers } = await get(url, '/explorer');
    const policy = String(headers['content-security-policy']).split(';');
    for (const name of ['default-src', 'frame-ancestors', 'base-uri', 'form-action', 'object-src'])
      expect(policy).toContain(`${name} 'none'`);
    for (const name of ['script-src', 'worker-src', 'connect-src'])
      expect(policy).toContain(`${name} 'self'`);
    expect(policy.join()).not.toMatch(/unsafe-eval|script-src[^,]*unsafe|https?:|\*/);
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    });
  });
});

describe('The assets of the explorer', () => {
  test('are served as immutable if their name has a hash', async () => {
    expect(assets.filter((name) => /^(editor|json|graphql)\.worker-\w+\.js$/.test(name))).toHaveLength(3);
    for (const name of assets) {
      const { status, headers } = await get(url, `/explorer/${name}`);
      const hashed = name !== 'licences.txt';
      expect({ name, status, ...headers }).toMatchObject({
        status: 200,
        'cache-control': hashed ? 'public, max-age=31536000, immutable' : 'no-cache',
        'content-type': expect.stringMatching(
          /^((text|application)\/(javascript|css|plain)|image\/svg\+xml)/,
        ) as unknown,
        'x-content-type-options': 'nosniff',
        vary: 'accept-encoding',
        etag: expect.stringMatching(/^W\/"[^"]+"$/) as unknown,
      });
    }
  });

  test.each([
    ['br, gzip', 'br'],
    ['br;q=0, gzip;q=0.5', 'gzip'],
    ['identity', undefined],
  ])('for Accept-Encoding "%s" have the encoding %s and the same content', async (accepted, encoding) => {
    const name = assets.find((one) => one.startsWith('main-') && one.endsWith('.js'));
    const plain = await get(url, `/explorer/${name}`);
    const { headers, body } = await get(url, `/explorer/${name}`, { 'accept-encoding': accepted });
    expect(headers['content-encoding']).toBe(encoding);
    const decoded = encoding === 'br' ? brotliDecompressSync(body) : encoding ? gunzipSync(body) : body;
    expect(decoded.equals(plain.body)).toBe(true);
    expect(headers.etag === plain.headers.etag).toBe(encoding === undefined);
  });

  test('include the licences of the bundle', async () => {
    const { body } = await get(url, '/explorer/licences.txt');
    for (const name of ['graphiql', 'monaco-editor', 'react', 'graphql', 'graphql-ws'])
      expect(String(body)).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(MIT\\)$`, 'm'));
  });
});

test.each(['/explorer', '/explorer/licences.txt'])(
  'A HEAD request for %s gets the headers of GET and no body',
  async (path) => {
    const [whole, head] = [await get(url, path), await get(url, path, {}, 'HEAD')];
    expect([head.status, head.body.length]).toEqual([200, 0]);
    for (const name of ['content-length', 'content-type', 'etag', 'cache-control'])
      expect([name, head.headers[name]]).toEqual([name, whole.headers[name]]);
  },
);

test.each([
  '/explorer/',
  '/explorer/licences.txt.br',
  '/explorer/../http/app.js',
  '/explorer/..%5cserver.js',
  '/explorer/%2e%2e%2f%2e%2e%2fpackage.json',
])('The path %s of the explorer is not found', async (path) => {
  const { status, headers } = await get(url, path);
  expect(status).toBe(404);
  expect(headers['content-type']).toMatch(/^application\/json/);
});

describe('The setting EXPLORER', () => {
  const statusOf = async (base: string) => [
    (await get(base, '/explorer')).status,
    (await get(base, '/explorer/licences.txt')).status,
  ];

  test('removes the explorer if it is `off`, even with the sandbox; with a real service, also if it is not set', async () => {
    expect(await statusOf(await open({ EXPLORER: 'off' }))).toEqual([404, 404]);
    expect(await statusOf((await testGateway(sandboxUrl)).gateway.url)).toEqual([404, 404]);
  });

  test('adds an explorer, which asks for credentials, with a real service if it is on', async () => {
    const { gateway } = await testGateway(sandboxUrl, { env: { EXPLORER: 'on' } });
    const { status, body } = await get(gateway.url, '/explorer');
    expect(status).toBe(200);
    expect(String(body)).toContain('data-service="real" data-callers="known"');
  });
});

describe('The storage of the explorer', () => {
  function browserStorage() {
    const kept: Record<string, string> = {};
    const methods = {
      getItem: (key: string) => kept[key] ?? null,
      setItem: (key: string, value: string) => void (kept[key] = value),
      removeItem: (key: string) => void Reflect.deleteProperty(kept, key),
    };
    return { kept, storage: createStorage(Object.assign(Object.create(methods), kept) as Storage) };
  }

  test.each(['tabState', 'variables', 'headers', 'queries'])(
    'keeps %s in memory and not in the browser',
    (name) => {
      const { kept, storage } = browserStorage();
      storage.setItem(`graphiql:${name}`, 'Bearer pgk_key');
      expect(storage.getItem(`graphiql:${name}`)).toBe('Bearer pgk_key');
      expect(kept).toEqual({});
      storage.removeItem(`graphiql:${name}`);
      expect(storage.getItem(`graphiql:${name}`)).toBeNull();
    },
  );

  test.each(['theme', 'visiblePlugin', 'editorFlex'])('keeps %s in the browser', (name) => {
    const { kept, storage } = browserStorage();
    storage.setItem(`graphiql:${name}`, '1');
    expect(kept).toEqual({ [`graphiql:${name}`]: '1' });
    expect(storage.getItem(`graphiql:${name}`)).toBe('1');
    storage.removeItem(`graphiql:${name}`);
    expect(kept).toEqual({});
  });
});

const load = () =>
  createExamples({ channel: CHANNEL, externalId: `order ${randomUUID()}`, fresh: () => randomUUID() });

/** The input of an operation that creates or confirms. */
interface Input {
  idempotencyKey?: string;
  method?: Record<string, unknown>;
  confirmation?: Record<string, unknown>;
}
const inputOf = ({ variables }: Example): Input => (variables as { input?: Input }).input ?? {};

const { tour, more, payments, payouts } = load();
const all = [...tour, ...more, ...[...payments, ...payouts].flatMap(({ operations }) => operations)];
const named = (operations: readonly Example[]): [string, Example][] =>
  operations.map((operation) => [operation.name, operation]);

const definitionOf = ({ query }: Example): OperationDefinitionNode => {
  const found = parse(query).definitions.find(({ kind }) => kind === Kind.OPERATION_DEFINITION);
  return found as OperationDefinitionNode;
};

/** Returns the fields of a @oneOf input, or the values of an enum. */
function variants(schema: GraphQLSchema, name: string): string[] {
  const type = schema.getType(name);
  if (isEnumType(type)) return type.getValues().map((value) => value.name);
  return isInputObjectType(type) ? Object.keys(type.getFields()) : [];
}

/** Returns the fields of `method` or of `confirmation` in the inputs of all operations. */
const chosen = (name: 'method' | 'confirmation'): Record<string, unknown> =>
  Object.assign({}, ...all.map((operation) => inputOf(operation)[name])) as Record<string, unknown>;

describe('The example operations', () => {
  const schema = gatewaySchema();

  test.each(named(all))(
    'include %s, which is valid and has a valid name and valid variables',
    (name, operation) => {
      expect(validate(schema, parse(operation.query))).toEqual([]);
      const definition = definitionOf(operation);
      expect(definition.name?.value).toBe(name);
      const ids = new KnownIds();
      const created = { transactionId: randomUUID() };
      for (const other of all) ids.learn(other.name, { any: { payment: created, payout: created } });
      const variables = ids.fillIn(operation.variables) as Record<string, unknown>;
      expect(getVariableValues(schema, definition.variableDefinitions ?? [], variables)).toHaveProperty(
        'coerced',
      );
      // The gateway refuses card numbers in documents.
      expect(operation.query).not.toMatch(/\d{8}/);
    },
  );

  test('cover every method of payments, payouts and confirmations', () => {
    const { redirect, ...methods } = chosen('method');
    expect(redirect).toBeDefined();
    const ways = [...variants(schema, 'PaymentMethodInput'), ...variants(schema, 'PayoutMethodInput')];
    expect(Object.keys({ redirect, ...methods }).sort()).toEqual([...new Set(ways)].sort());
    expect(Object.keys(chosen('confirmation')).sort()).toEqual(variants(schema, 'ConfirmationInput').sort());
    const redirects = all.flatMap((operation) => inputOf(operation).method?.['redirect'] ?? []);
    expect([...new Set(redirects)].sort()).toEqual(variants(schema, 'RedirectPaymentMethod').sort());
  });

  test('have new idempotency keys each time they are loaded', () => {
    const keys = [load(), load()].flatMap(({ tour: tabs, payments: methods }) =>
      [...tabs, ...methods.flatMap(({ operations }) => operations)].flatMap(
        (operation) => inputOf(operation).idempotencyKey ?? [],
      ),
    );
    // The tour and the list of methods share the UPI create.
    expect(new Set(keys).size).toBeGreaterThanOrEqual(keys.length - 2);
  });
});

interface Shown {
  transactionId: string;
  status: string;
  amount: { value: string; received?: string | null } | null;
  error: { message: string; reason: string | null } | null;
  nextAction?: { __typename: string; url?: string } | null;
}

describe('The example operations, run against the sandbox,', () => {
  let sandbox: Sandbox;
  let gateway: TestClient;

  beforeAll(async () => {
    sandbox = await testSandbox({ clock: fakeClock(Date.now()) });
    gateway = await testGateway(sandbox.url, { inSandbox: true });
  });

  /** Runs an operation like the page, and returns the value of its root field. */
  async function run({ name, query, variables }: Example, ids: KnownIds): Promise<Record<string, unknown>> {
    const { data, text } = await gateway.request<Record<string, Record<string, unknown>> | null>(
      query,
      ids.fillIn(variables) as object,
    );
    if (!data) throw new Error(text);
    ids.learn(name, data);
    return Object.values(data)[0] ?? {};
  }

  const shownBy = async (operation: Example, ids: KnownIds): Promise<Shown> => {
    const response = await run(operation, ids);
    const shown = response['payment'] ?? response['payout'];
    if (!shown) throw new Error(JSON.stringify(response));
    return shown as Shown;
  };

  /** Subscribes like the page, over a WebSocket, until this status arrives. */
  async function watch({ query, variables }: Example, ids: KnownIds, status: string): Promise<Shown> {
    const payload = { query, variables: ids.fillIn(variables) as Record<string, unknown> };
    for await (const { data, errors } of graphqlWsClient(gateway.url).iterate<Record<string, Shown>>(
      payload,
    )) {
      const [shown] = Object.values(data ?? {});
      if (errors) throw new Error(JSON.stringify(errors));
      if (shown?.status === status) return shown;
    }
    throw new Error(`The subscription ended before ${status}.`);
  }

  const byName = (operations: readonly Example[], name: string): Example => {
    const found = operations.find((operation) => operation.name === name);
    if (!found) throw new Error(`There is no ${name}.`);
    return found;
  };

  test('succeed one after the other in their tabs, although no ids are copied', async () => {
    const ids = new KnownIds();
    const tabs = load().tour;
    const used = new Set<string>();
    const tab = (name: string): Example => {
      used.add(name);
      return byName(tabs, name);
    };

    const redirect = await shownBy(tab('CreateRedirect'), ids);
    expect(redirect).toMatchObject({ status: 'PENDING', nextAction: { __typename: 'RedirectAction' } });
    expect((await watch(tab('WatchPayment'), ids, 'PENDING')).transactionId).toBe(redirect.transactionId);
    sandbox.control.settle(redirect.transactionId);
    await watch(tab('WatchPayment'), ids, 'COMPLETED');

    const upi = await shownBy(tab('CreateUpi'), ids);
    expect(upi).toMatchObject({ status: 'PROCESSING', nextAction: { __typename: 'ProvideUtrAction' } });
    const confirmed = await shownBy(tab('ConfirmUpi'), ids);
    const { transactionId } = upi;
    expect(confirmed).toMatchObject({ transactionId, status: 'COMPLETED', nextAction: null });

    sandbox.control.settle((await shownBy(tab('Declined'), ids)).transactionId);
    const failed = await watch(tab('WatchPayment'), ids, 'FAILED');
    expect(failed.error?.reason).toBe('INSUFFICIENT_FUNDS');
    sandbox.control.settle((await shownBy(tab('Mispaid'), ids)).transactionId);
    expect(await watch(tab('WatchPayment'), ids, 'MISPAID')).toMatchObject({
      amount: { value: '100.70', received: '50.35' },
    });

    const completed = { transactionId: redirect.transactionId, status: 'COMPLETED' };
    expect(await run(tab('LookUp'), ids)).toMatchObject(completed);
    const payout = await shownBy(tab('CreateBkashPayout'), ids);
    sandbox.control.settle(payout.transactionId);
    const paidOut = await watch(byName(more, 'WatchPayout'), ids, 'COMPLETED');
    expect(paidOut.transactionId).toBe(payout.transactionId);
    const feed = await run(tab('Changes'), ids);
    expect(feed['changes']).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ transactionId: redirect.transactionId, status: 'PENDING' }),
        expect.objectContaining(completed),
        expect.objectContaining({ transactionId: payout.transactionId, payoutStatus: 'COMPLETED' }),
      ]),
    );
    const [first] = feed['changes'] as { cursor: string; transactionId: string }[];
    const fromFirst = { ...tab('WatchChanges'), variables: { channel: CHANNEL, after: first?.cursor } };
    expect(first?.transactionId).toBe(redirect.transactionId);
    expect(await watch(fromFirst, ids, 'COMPLETED')).toMatchObject(completed);
    expect([...used]).toEqual(tabs.map(({ name }) => name));
  });

  test.each(payments.map((method) => [method.type, method] as const))(
    'create a payment with the method %s in each way, and confirm it if necessary',
    async (_type, { operations }) => {
      const ids = new KnownIds();
      for (const operation of operations) {
        const { status, nextAction } = await shownBy(operation, ids);
        const isConfirm = operation.name.startsWith('Confirm');
        expect(`${operation.name} ${status}`).toMatch(
          isConfirm ? /COMPLETED|PROCESSING/ : /PENDING|PROCESSING/,
        );
        if (nextAction) expect(nextAction).not.toEqual({ __typename: nextAction.__typename });
      }
    },
  );

  test.each(payouts.map((method) => [method.type, method] as const))(
    'create a payout with the method %s',
    async (_type, { operations }) => {
      for (const operation of operations)
        expect(await shownBy(operation, new KnownIds())).toMatchObject({ status: 'PROCESSING' });
    },
  );
});
