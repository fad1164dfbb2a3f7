import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Caller, CHANNEL, createInput, type End, type Json } from '../exactly-once/support/caller';
import { Program } from '../exactly-once/support/program';
import { newKey } from '../exactly-once/support/rig';
import { openStore, postgresAnswers } from '../exactly-once/support/stores';
import { EventStream } from '../live/support/event-stream';
import { WireClient } from '../live/support/wire-client';
import { frozenClock } from '../../src/sandbox/clock';
import { AUTHORIZED } from '../support/credentials';
import { closeAfterTests, testSandbox } from '../support/gateway';
import { Wire, postText, requestText } from '../attack/wire';
import { delaySeconds, describeWhere, envOf, lacking, openFolder, textOf } from './support/files';
import { CONFIGURATION, startNginx, testTlsConfiguration, type Nginx } from './support/nginx';

// A start may have to compile first, and other tests run beside this one.
jest.setTimeout(180_000);

const WATCH = `subscription ($channel: UUID!, $id: UUID!) {
  paymentUpdated(channel: $channel, transactionId: $id) { ... on UpiPayment { state } }
}`;
const LOOK = `query ($channel: UUID!, $id: UUID!) {
  payment(channel: $channel, transactionId: $id) { ... on PaymentResource { status } }
}`;

const HOST = ['Host: localhost'];

const noPostgres = postgresAnswers() ? undefined : 'SKIPPED: no PostgreSQL answers';

describe('The upstream of nginx', () => {
  test('keeps idle connections for a shorter time than an instance serves after SIGTERM', () => {
    const [, seconds] = /^upstream [^}]*keepalive_timeout (\d+)s;/ms.exec(textOf(CONFIGURATION)) ?? [];
    expect(Number(seconds)).toBeLessThan(delaySeconds(envOf('deploy/systemd/paygraph.env')));
  });
});

describeWhere(lacking('nginx', 'openssl'), 'The configuration of nginx', () => {
  test('is right with TLS, as its comments say', () => {
    expect(testTlsConfiguration()).toMatchObject({ status: 0 });
  });
});

describeWhere(
  lacking('nginx') ?? noPostgres,
  'Two gateways behind nginx, with one journal in PostgreSQL',
  () => {
    let gateways: [Program, Program];
    let nginx: Nginx;
    let caller: Caller;
    let auditFile: string;

    beforeAll(async () => {
      const [store, sandbox] = await Promise.all([
        openStore('PostgreSQL'),
        testSandbox({ clock: frozenClock(Date.now()) }),
      ]);
      closeAfterTests(Object.assign(store, { close: () => store.drop() }));
      auditFile = path.join(openFolder(), 'audit.log');
      const start = async (): Promise<Program> => {
        const program = await Program.start({
          serviceUrl: sandbox.url,
          databaseUrl: store.url,
          env: { TRUSTED_PROXIES: '127.0.0.1', AUDIT_LOG_FILE: auditFile, SERVICE_TIMEOUT_MS: '10000' },
          isPatient: true,
        });
        closeAfterTests(Object.assign(program, { close: () => program.kill() }));
        return program;
      };
      gateways = await Promise.all([start(), start()]);
      nginx = await startNginx([gateways[0].url, gateways[1].url]);
      caller = new Caller(nginx.url);
    });

    const newPayment = async (key = newKey()): Promise<End & { transactionId: string }> => {
      const created = await caller.create('payment', key);
      if (!created.transactionId) throw new Error(`Not created: ${JSON.stringify(created)}`);
      return { ...created, transactionId: created.transactionId };
    };
    const statusOf = async (place: string): Promise<number> => (await fetch(`${nginx.url}${place}`)).status;

    test('both answer queries and mutations', async () => {
      const { transactionId, status } = await newPayment();
      for (const _ of gateways) {
        const { data } = await caller.ask(LOOK, { channel: CHANNEL, id: transactionId });
        expect(data).toEqual({ payment: { status } });
      }
      const upstreams = new Set(
        [...nginx.log().matchAll(/"POST \/graphql" 200 \d+ \S+ (\S+)/g)].map(([, at]) => at),
      );
      expect(upstreams).toEqual(new Set(gateways.map(({ url }) => new URL(url).host)));
    });

    test('a subscription over a WebSocket, and one over server-sent events, are told of a change', async () => {
      const { transactionId } = await newPayment();
      const variables = { channel: CHANNEL, id: transactionId };
      const socket = await WireClient.ready(`${nginx.url}/graphql`, AUTHORIZED);
      socket.subscribe('1', { query: WATCH, variables });
      const stream = await EventStream.open(`${nginx.url}/graphql/stream`, { query: WATCH, variables });
      const before = await stream.nextData();
      expect(await socket.next()).toMatchObject({
        type: 'next',
        payload: { data: { paymentUpdated: before } },
      });
      expect(await caller.confirm(transactionId)).toMatchObject({ result: 'PaymentSuccess' });
      const after = await stream.nextData();
      expect(after).not.toEqual(before);
      expect(await socket.next()).toMatchObject({
        type: 'next',
        payload: { data: { paymentUpdated: after } },
      });
      stream.leave();
    });

    /** What nginx or a gateway answers to these bytes. */
    const exchange = async (text: string): Promise<{ status?: number; type?: string; errors?: Json[] }> => {
      const wire = await Wire.open(nginx.url);
      const [answer] = await wire.write(text).answers(1);
      wire.close();
      const { errors } = JSON.parse(answer?.body ?? '{}') as { errors?: Json[] };
      return { status: answer?.status, type: answer?.headers['content-type'], errors };
    };
    const errorOf = (code: string, retryable: boolean) => [
      {
        message: expect.any(String) as unknown,
        extensions: { code, retryable, requestId: expect.any(String) as unknown },
      },
    ];

    test.each([
      ['an address where nothing is', 404, requestText('GET /nothing HTTP/1.1', HOST)],
      ['a body that is too large', 413, postText('x'.repeat(200_000), HOST)],
      ['an address that is too long', 414, requestText(`GET /graphql?${'a'.repeat(20_000)} HTTP/1.1`, HOST)],
      [
        'headers that are too large',
        400,
        requestText('GET /graphql HTTP/1.1', [...HOST, `A: ${'a'.repeat(20_000)}`]),
      ],
      ['what is not HTTP', 400, requestText('BROKEN', [])],
    ])('answers %s with a GraphQL error of %i', async (_what, status, text) => {
      const type = 'application/json';
      expect(await exchange(text)).toEqual({ status, type, errors: errorOf('BAD_REQUEST', false) });
    });

    test("passes a gateway's own error through", async () => {
      const { status, errors } = await exchange(postText('{"query":"{ __typename }"}', HOST));
      expect(status).toBe(401);
      expect(errors).toMatchObject([{ extensions: { code: 'UNAUTHENTICATED' } }]);
    });

    test('metrics, readiness and everything else that is not for callers is not there', async () => {
      const places = [
        '/metrics',
        '/readyz',
        '/explorer',
        '/_sandbox/',
        '/',
        '/graphql/',
        '/graphql/../metrics',
        '/METRICS',
      ];
      expect(await Promise.all(places.map(statusOf))).toEqual(places.map(() => 404));
      expect(await statusOf('/healthz')).toBe(200);
      expect(await statusOf('/callbacks/some-token-of-a-callback')).toBe(204);
    });

    test('who calls goes on record, and not who somebody says to be', async () => {
      const key = newKey();
      const body = JSON.stringify({
        query: 'mutation ($input: CreatePaymentInput!) { createPayment(input: $input) { __typename } }',
        variables: { input: createInput('payment', key) },
      });
      const headers = { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.7', ...AUTHORIZED };
      const asking = request(`${nginx.url}/graphql`, { method: 'POST', localAddress: '127.0.0.2', headers });
      const answered = once(asking, 'response');
      asking.end(body);
      const [response] = (await answered) as [IncomingMessage];
      await once(response.resume(), 'end');
      const line = readFileSync(auditFile, 'utf8')
        .split('\n')
        .find((one) => one.includes(key));
      expect(JSON.parse(line ?? '{}')).toMatchObject({ outcome: 'PaymentSuccess', ip: '127.0.0.2' });
    });

    test('when one is stopped the other serves, and a create asked again there is the same payment', async () => {
      const [first, second] = gateways;
      const key = newKey();
      const created = await first.create('payment', key);
      expect(created).toMatchObject({ result: 'PaymentSuccess', replayed: false });
      first.signal('SIGTERM');
      expect(await first.exited).toBe(0);
      // What nginx hears first is that its connections to the one that was stopped are gone.
      expect(await statusOf('/healthz')).toBe(200);
      for (const _ of gateways) {
        const again = await caller.create('payment', key);
        expect(again).toMatchObject({ replayed: true, transactionId: created.transactionId });
      }
      await second.kill();
      expect(await statusOf('/healthz')).toBe(502);
    });

    test('answers a call that no gateway answers with a GraphQL error that may be repeated', async () => {
      expect(await exchange(postText('{"query":"{ __typename }"}', HOST))).toEqual({
        status: 502,
        type: 'application/json',
        errors: errorOf('SERVICE_UNAVAILABLE', true),
      });
    });

    test('nothing of what was asked is in the log of nginx, also when nobody answered', async () => {
      const secret = 'order-of-somebody';
      expect(await statusOf(`/graphql?query={__typename}&variables={"a":"${secret}"}`)).toBe(502);
      expect(await statusOf(`/callbacks/${secret}`)).toBe(502);
      expect(nginx.log()).toContain('"GET /graphql" 502');
      expect(nginx.log()).toContain('"GET /callbacks/[token]" 502');
      expect(nginx.log()).not.toMatch(new RegExp(`${secret}|some-token-of-a-callback|variables`));
    });
  },
);
