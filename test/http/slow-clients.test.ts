import { SLOW_CLIENTS, playSlowly, type SlowClient } from '../attack/slow-clients';
import { Wire, postText, requestText } from '../attack/wire';
import { faultsOfHttp } from '../attack/judge';
import { until } from '../exactly-once/support/gate';
import { AUTHORIZED } from '../support/credentials';
import { openSockets } from './support/resources';
import { startServer, type Server } from './support/servers';

const authorization = `Authorization: ${AUTHORIZED.authorization}`;

let server: Server;

beforeAll(async () => {
  server = await startServer({ CLIENT_TIMEOUT_MS: '300' });
});

const serves = async (): Promise<boolean> => (await server.client.ask('{ __typename }')).status === 200;

describe('A client that does not come to the end of its request is sent away', () => {
  test.each(SLOW_CLIENTS.map((client): [string, SlowClient] => [client.name, client]))(
    'when it %s',
    async (_name, client) => {
      const answers = await playSlowly(server.base, client, authorization);
      const final = answers.filter(({ status }) => ![100, 200].includes(status));
      for (const answer of final) {
        expect(answer.status).toBe(408);
        expect(faultsOfHttp(answer)).toEqual([]);
      }
      expect(final.length).toBeLessThanOrEqual(1);
    },
  );

  test('and holds nobody up meanwhile, be there 200 of them', async () => {
    const before = openSockets();
    const slow = Array.from({ length: 200 }, (_, place) =>
      playSlowly(server.base, SLOW_CLIENTS[place % SLOW_CLIENTS.length]!, authorization),
    );
    const gone = Promise.all(slow);
    for (let count = 0; count < 20; count += 1) expect(await serves()).toBe(true);
    await gone;
    await until(openSockets, (count) => count <= before + 5);
  });
});

test('a connection that waits for its next request is not kept for ever, and says how long', async () => {
  const wire = await Wire.open(server.base);
  const [answer] = await wire
    .write(requestText('GET /healthz HTTP/1.1', [`Host: ${new URL(server.base).host}`]))
    .answers(1);
  wire.close();
  const [, seconds] = /timeout=(\d+)/.exec(answer?.headers['keep-alive'] ?? '') ?? [];
  expect(Number(seconds)).toBeGreaterThan(0);
  expect(Number(seconds)).toBeLessThanOrEqual(120);
});

test('a client that asks and never reads holds nobody up', async () => {
  const headers = [`Host: ${new URL(server.base).host}`, authorization];
  const big = postText(
    JSON.stringify({ query: '{ __schema { types { name description fields { name description } } } }' }),
    headers,
  );
  const deaf = await Promise.all(Array.from({ length: 10 }, () => Wire.open(server.base)));
  for (const wire of deaf) {
    wire.socket.pause();
    wire.write(big.repeat(30));
  }
  for (let count = 0; count < 20; count += 1) expect(await serves()).toBe(true);
  deaf.forEach((wire) => wire.close());
  expect(await serves()).toBe(true);
});

test.each(['100', '600000'])('a time of %s ms is one that can be set', async (CLIENT_TIMEOUT_MS) => {
  const { client } = await startServer({ CLIENT_TIMEOUT_MS });
  expect((await client.ask('{ __typename }')).status).toBe(200);
});
