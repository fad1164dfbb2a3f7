import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createSecureServer, type Http2SecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { getCACertificates, setDefaultCACertificates, type TLSSocket } from 'node:tls';
import { CHANNEL, type TestClient } from '../support/gateway';
import { withFreshGateway } from './fixtures/fresh-gateway';

// Key and certificate of nobody: for localhost, signed by itself, in this folder only.
const pem = readFileSync(path.join(__dirname, 'fixtures', 'localhost.pem'), 'utf8');

const CREATE = `mutation C($input: CreatePaymentInput!) { createPayment(input: $input) { __typename } }`;

const create = (client: TestClient) =>
  client.ask(CREATE, {
    input: {
      idempotencyKey: randomUUID(),
      channel: CHANNEL,
      amount: { currency: 'INR', value: '10' },
      method: { redirect: 'UPI' },
    },
  });

describe('A service that speaks TLS and HTTP/2', () => {
  const before = getCACertificates('default');
  const sockets: { socket: TLSSocket; creates: number; version: string }[] = [];
  let service: Http2SecureServer;
  let url: string;

  beforeAll(async () => {
    setDefaultCACertificates([...before, pem.slice(pem.indexOf('-----BEGIN CERTIFICATE'))]);
    service = createSecureServer({ key: pem, cert: pem, allowHTTP1: true }, (request, response) => {
      const socket = request.socket as TLSSocket;
      const known = sockets.find((each) => each.socket === socket);
      if (known) known.creates += 1;
      else sockets.push({ socket, creates: 1, version: request.httpVersion });
      response.writeHead(201, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ status: 'processing', transaction_id: randomUUID() }));
    }).listen(0, 'localhost');
    await once(service, 'listening');
    url = `https://localhost:${(service.address() as AddressInfo).port}/`;
  });

  afterAll(async () => {
    setDefaultCACertificates(before);
    service.close();
    await once(service, 'close');
  });

  test('gets every create over a connection of its own, and the handshake is resumed', async () => {
    const resumed: boolean[] = [];
    service.on('secureConnection', (socket: TLSSocket) => resumed.push(socket.isSessionReused()));
    await withFreshGateway(url, 5000, async (client) => {
      for (let count = 0; count < 3; count += 1)
        expect(await create(client)).toMatchObject({
          data: { createPayment: { __typename: 'PaymentSuccess' } },
        });
    });
    expect(sockets.map(({ creates, version }) => [creates, version])).toEqual([
      [1, '1.1'],
      [1, '1.1'],
      [1, '1.1'],
    ]);
    expect(resumed).toEqual([false, true, true]);
  });
});
