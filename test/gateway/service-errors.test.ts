import { createServer, type AddressInfo, type Socket } from 'node:net';
import { closeAfterTests, testGateway, type TestClient } from '../support/gateway';
import { scriptedService, type ScriptedService, type SeenRequest } from '../support/scripted-service';
import { accepted } from './fixtures/calls';
import { withFreshGateway } from './fixtures/fresh-gateway';
import { expectErrors } from './fixtures/raw';
import {
  CREATE_PAYMENT,
  LOOKUPS,
  MONEY_CALLS,
  type Ending,
  type ServiceCall,
} from './fixtures/service-calls';
import { MEANINGS, SERVICE_FAULTS, type Meaning } from './fixtures/service-faults';

const UNKNOWN = 'OutcomeUnknownError';
/** Enough for a busy machine to have sent what is to be sent. */
const SHORT_MS = 500;
const LONG_MS = 10_000;

let service: ScriptedService;
/** Lookups leave nothing behind, so one gateway makes all of them but those that wait for the deadline. */
let patient: TestClient;

beforeAll(async () => {
  service = await scriptedService();
  patient = await testGateway(service.url, { env: { SERVICE_TIMEOUT_MS: String(LONG_MS) } });
});

function expectLookup(ending: Ending, meaning: Meaning): void {
  const { lookup } = MEANINGS[meaning];
  expect(ending.status).toBe(200);
  expect(ending.found).toBeNull();
  expect(ending.errors).toHaveLength(1);
  expectErrors(ending, 'error' in lookup ? lookup.error : '');
  expect(ending.errors?.[0]?.extensions).toMatchObject({ retryable: 'error' in lookup && lookup.retryable });
  expect(ending.errors?.[0]?.path).toHaveLength(1);
}

function expectMoney(ending: Ending, meaning: Meaning): void {
  const { money } = MEANINGS[meaning];
  expect(ending.status).toBe(200);
  if ('error' in money) {
    expect(ending.result).toBeUndefined();
    expectErrors(ending, money.error);
    expect(ending.errors?.[0]?.extensions).toMatchObject({ retryable: money.retryable });
    return;
  }
  expect(ending.errors).toBeUndefined();
  expect(ending.result?.__typename).toBe(money.result);
  if (money.result === UNKNOWN)
    expect(ending.result).toMatchObject({ code: 'OUTCOME_UNKNOWN', ...ending.names });
}

const allAtOnce = (calls: [string, ServiceCall, ...string[]][], client: TestClient): Promise<Ending[]> =>
  Promise.all(calls.map(([, call]) => call(client)));

const inOrder = (calls: [string, ServiceCall, ...string[]][]) =>
  calls.map(([name, , ...more], place): [string, number, string] => [name, place, more.join()]);

/** Whether callers are told of a create or confirm that its outcome is unknown. */
const isUnknown = (meaning: Meaning): boolean => {
  const { money } = MEANINGS[meaning];
  return 'result' in money && money.result === UNKNOWN;
};

describe.each(SERVICE_FAULTS)('When the service %s', (_fault, meaning, reply) => {
  let lookups: Ending[];
  let moneyCalls: Ending[];
  let seen: SeenRequest[];
  let next: Ending;

  beforeAll(async () => {
    service.answer(() => reply);
    const lookUp = (client: TestClient): Promise<Ending[]> => allAtOnce(LOOKUPS, client);
    lookups = await (meaning === 'timeout'
      ? withFreshGateway(service.url, SHORT_MS, lookUp)
      : lookUp(patient));
    service.seen.length = 0;
    // What became of a create or confirm is searched for during most of its time.
    await withFreshGateway(service.url, isUnknown(meaning) ? SHORT_MS : LONG_MS, async (client) => {
      moneyCalls = await allAtOnce(MONEY_CALLS, client);
      seen = [...service.seen];
      service.answer(accepted);
      next = await CREATE_PAYMENT(client);
    });
  });

  test.each(inOrder(LOOKUPS))(`%s ends as ${meaning}`, (_call, place) => {
    const ending = lookups[place]!;
    expectLookup(ending, meaning);
    expect(ending.text).not.toMatch(/<h1|<html/i);
  });

  test.each(inOrder(MONEY_CALLS))(`%s ends as ${meaning}, and is sent once`, (_call, place, path) => {
    const ending = moneyCalls[place]!;
    expectMoney(ending, meaning);
    expect(ending.text).not.toMatch(/<h1|<html/i);
    expect(seen.filter((call) => call.method === 'POST' && call.path === path)).toHaveLength(1);
  });

  test('nothing else is sent but lookups for what is unknown, and for a confirm that was refused', () => {
    expect(service.seen.every(({ path }) => path.startsWith('/api/v1/'))).toBe(true);
    expect(seen.filter(({ method }) => method === 'POST')).toHaveLength(MONEY_CALLS.length);
    const lookedFor = new Set(seen.filter(({ method }) => method === 'GET').map(({ query }) => query));
    const { money } = MEANINGS[meaning];
    const isRefused = 'result' in money && money.result !== UNKNOWN;
    expect(lookedFor.size).toBe(isUnknown(meaning) ? MONEY_CALLS.length : isRefused ? 1 : 0);
  });

  test('the next call is served as if nothing had been', () => {
    expect(next.result?.__typename).toBe('PaymentSuccess');
  });
});

/** A TCP server that is no HTTP service; counts the bytes it was sent. */
async function rawServer(
  onSocket: (socket: Socket) => void,
): Promise<{ port: number; received: () => Buffer }> {
  const chunks: Buffer[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('data', (chunk) => chunks.push(Buffer.from(chunk)));
    socket.on('error', () => socket.destroy());
    onSocket(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<void> => {
    sockets.forEach((socket) => socket.destroy());
    return new Promise((resolve) => server.close(() => resolve()));
  };
  closeAfterTests({ close });
  return { port, received: () => Buffer.concat(chunks) };
}

describe('When nothing can have been sent', () => {
  const endingsOf = (
    url: string,
    calls: [string, ServiceCall, ...string[]][],
    timeoutMs = 500,
  ): Promise<Ending[]> => Promise.all(calls.map(([, call]) => withFreshGateway(url, timeoutMs, call)));

  const expectUnreachable = async (url: string): Promise<void> => {
    for (const ending of await endingsOf(url, MONEY_CALLS)) expectMoney(ending, 'unreachable');
  };

  test('because the connection is refused, lookups and money calls say so and may be repeated', async () => {
    const url = 'http://127.0.0.1:1/';
    for (const ending of await endingsOf(url, LOOKUPS, 10_000)) expectLookup(ending, 'unreachable');
    await expectUnreachable(url);
  });

  test('because the host is not there, lookups and money calls say so and may be repeated', async () => {
    const url = 'https://no-such-host.invalid/';
    for (const { errors } of await endingsOf(url, LOOKUPS)) {
      expect(errors?.[0]?.extensions['code']).toMatch(/^SERVICE_(TIMEOUT|UNAVAILABLE)$/);
    }
    await expectUnreachable(url);
  });

  test('because the service does not speak TLS, lookups and money calls say so and may be repeated', async () => {
    service.seen.length = 0;
    const url = service.url.replace('http:', 'https:');
    for (const ending of await endingsOf(url, LOOKUPS, 10_000)) expectLookup(ending, 'unreachable');
    await expectUnreachable(url);
    expect(service.seen).toHaveLength(0);
  });

  test('because the TLS handshake stalls, the deadline ends the call and no request goes out later', async () => {
    const server = await rawServer(() => undefined);
    const url = `https://127.0.0.1:${server.port}/`;
    for (const { errors } of await endingsOf(url, LOOKUPS)) {
      expect(errors?.[0]?.extensions['code']).toMatch(/^SERVICE_(TIMEOUT|UNAVAILABLE)$/);
    }
    await expectUnreachable(url);
    expect(server.received().includes('POST')).toBe(false);
  });
});
