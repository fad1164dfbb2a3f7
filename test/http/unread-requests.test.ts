import { bearer, clientOf, keyOf } from '../auth/support/harness';
import { WireClient } from '../subscriptions/support/wire-client';
import { clientKeysFile } from '../support/credentials';
import { until } from '../support/latch';
import { Wire, requestText } from '../support/wire';
import { startServer, type Server } from './support/servers';

const IDS = ['one', 'two'];
const MAX_BODY_BYTES = 100 * 1024;
/** Number of bodies of the maximum size that fit into the limit per caller, 32 MB. */
const MAX_BODIES = (32 * 1024 * 1024) / MAX_BODY_BYTES;

let server: Server;
beforeAll(async () => {
  server = await startServer({ CLIENT_KEYS_FILE: clientKeysFile(...IDS.map((id) => clientOf(id, {}))) });
});

const credentialsOf = (id: string) => bearer(keyOf(id));

async function postIncomplete(id: string, length: string): Promise<Wire> {
  const wire = await Wire.open(server.base);
  const authorization = `Authorization: ${credentialsOf(id).authorization}`;
  const headers = ['Host: localhost', authorization, 'Content-Type: application/json', length];
  return wire.write(requestText('POST /graphql HTTP/1.1', headers, '1\r\n{\r\n'));
}

test.each([`Content-Length: ${MAX_BODY_BYTES}`, 'Transfer-Encoding: chunked'])(
  'A gateway limits the bodies that one caller may have in flight: %s',
  async (length) => {
    const wires: Wire[] = [];
    for (let count = 0; count <= MAX_BODIES; count += 1) wires.push(await postIncomplete('one', length));
    const [refused] = await until(
      () => wires.filter(({ received }) => received.startsWith('HTTP/1.1 429 ')),
      ({ length: count }) => count > 0,
    );
    expect(refused?.received).toContain('"code":"RATE_LIMITED"');
    const hello = (id: string) => server.client.request('{ __typename }', {}, credentialsOf(id));
    expect((await hello('two')).errors).toBeUndefined();
    wires.forEach((wire) => wire.close());
    await until(async () => (await hello('one')).errors === undefined);
  },
);

test('A gateway closes a WebSocket that sends more than 16 KB before it is authenticated', async () => {
  const client = await WireClient.open(`${server.base}/graphql`);
  client.socket.send('x'.repeat(17_000), { fin: false });
  expect((await client.closed).code).toBe(1006);
  const authenticated = await WireClient.ready(`${server.base}/graphql`, credentialsOf('one'));
  authenticated.say({ type: 'ping', payload: { unused: 'x'.repeat(90_000) } });
  expect((await authenticated.next()).type).toBe('pong');
});
