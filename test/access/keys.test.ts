import { createHash } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { CLIENT_KEY } from '../support/credentials';
import { testGateway, testSandbox } from '../support/gateway';
import { TRANSACTION_ID } from '../gateway/fixtures/calls';
import { expectUnauthenticated } from './support/answers';
import { RawSocket, exchange, type SocketAnswer } from './support/raw-socket';
import { OURS, accessRig, bearer, clear, clientOf, keyOf, type Rig } from './support/rig';

const LOOKUP = `{ payment(channel: "${OURS}", transactionId: "${TRANSACTION_ID}") { __typename } }`;
const BODY = JSON.stringify({ query: LOOKUP });

let rig: Rig;
let url: string;

beforeAll(async () => {
  rig = await accessRig({ clients: [clientOf('shop', { channels: [OURS] })] });
  url = rig.client.gateway.url;
});

beforeEach(() => clear(rig));

/** The lines of a POST, each header as it is given. */
const post = (...headers: string[]): string[] => [
  'POST /graphql HTTP/1.1',
  'Host: gateway.example',
  'Content-Type: application/json',
  `Content-Length: ${BODY.length}`,
  ...headers,
];

const asAnswer = ({ status, headers, body }: SocketAnswer) => ({
  status,
  headers: new Headers(headers),
  text: body,
  ...(JSON.parse(body) as { errors?: never }),
  data: undefined,
});

describe('A key is accepted', () => {
  const SHOP = keyOf('shop');

  test.each([
    ['as it is meant', `Authorization: Bearer ${SHOP}`],
    ['with the scheme in lower case', `Authorization: bearer ${SHOP}`],
    ['with the scheme in capitals', `authorization: BEARER ${SHOP}`],
    ['after several blanks', `Authorization: Bearer   ${SHOP}`],
    ['between blanks that HTTP takes away', `Authorization:  \t Bearer ${SHOP} \t `],
  ])('%s', async (_how, header) => {
    const { status, body } = await exchange(url, post(header), BODY);
    expect({ status, body }).toEqual({ status: 200, body: expect.stringContaining('"data"') as unknown });
    expect(rig.service.seen).toHaveLength(1);
  });
});

/** Keys that are near the right one: what is refused must not be told either. */
const SHOP = keyOf('shop');
const REFUSED: [string, string[]][] = [
  ['no header', []],
  ['an empty header', ['Authorization:']],
  ['a header of blanks', ['Authorization:    ']],
  ['the scheme alone', ['Authorization: Bearer']],
  ['the scheme and a blank', ['Authorization: Bearer ']],
  ['the key alone', [`Authorization: ${SHOP}`]],
  ['another scheme', [`Authorization: Basic ${SHOP}`]],
  ['the scheme Basic with the key as password', [`Authorization: Basic ${btoa(`shop:${SHOP}`)}`]],
  ['a scheme that only begins right', [`Authorization: Bearers ${SHOP}`]],
  ['a scheme that only ends right', [`Authorization: xBearer ${SHOP}`]],
  ['no blank behind the scheme', [`Authorization: Bearer${SHOP}`]],
  ['a tab behind the scheme', [`Authorization: Bearer\t${SHOP}`]],
  ['a colon behind the scheme', [`Authorization: Bearer: ${SHOP}`]],
  ['the scheme twice', [`Authorization: Bearer Bearer ${SHOP}`]],
  ['a wrong key', ['Authorization: Bearer pgk_CANARY-nobody']],
  ['the key without its last letter', [`Authorization: Bearer ${SHOP.slice(0, -1)}`]],
  ['the key and one letter more', [`Authorization: Bearer ${SHOP}x`]],
  ['the key in capitals', [`Authorization: Bearer ${SHOP.toUpperCase()}`]],
  ['the key with a blank in it', [`Authorization: Bearer ${SHOP.slice(0, 9)} ${SHOP.slice(9)}`]],
  ['the key and a word', [`Authorization: Bearer ${SHOP} please`]],
  ['two keys in one header', [`Authorization: Bearer ${SHOP}, Bearer ${CLIENT_KEY}`]],
  ['the key in quotes', [`Authorization: Bearer "${SHOP}"`]],
  ['the key in base64', [`Authorization: Bearer ${btoa(SHOP)}`]],
  ['the key and a NUL in words', [`Authorization: Bearer ${SHOP}%00`]],
  ['letters beyond ASCII', ['Authorization: Bearer pgk_CANARY-schl\xfcssel']],
  ['the SHA-256 of the key', [`Authorization: Bearer ${createHash('sha256').update(SHOP).digest('hex')}`]],
  ['a key of 9000 letters', [`Authorization: Bearer pgk_CANARY${'x'.repeat(9000)}`]],
  ['the id of the client', ['Authorization: Bearer shop']],
  ['another header', [`X-Authorization: Bearer ${SHOP}`]],
  ['the header for proxies', [`Proxy-Authorization: Bearer ${SHOP}`]],
  ['a header for keys', [`X-Api-Key: ${SHOP}`]],
  ['a cookie', [`Cookie: authorization=Bearer ${SHOP}; token=${SHOP}`]],
  ['a header that names a loopback address', ['X-Forwarded-For: 127.0.0.1', 'X-Real-IP: 127.0.0.1']],
];

describe('401, and nothing is sent', () => {
  test.each(REFUSED)('for %s', async (_what, headers) => {
    const answer = asAnswer(await exchange(url, post(...headers), BODY));
    expectUnauthenticated(answer);
    expect(rig.service.seen).toHaveLength(0);
    expect(answer.text + rig.logLines.join('')).not.toMatch(/CANARY|canary/);
  });

  test.each([
    ['in the address', `/graphql?access_token=${SHOP}&authorization=Bearer%20${SHOP}&token=${SHOP}`],
    ['as the user of the address', `http://shop:${SHOP}@gateway.example/graphql`],
  ])('for a key %s', async (_where, target) => {
    const [, ...lines] = post();
    const answer = asAnswer(await exchange(url, [`POST ${target} HTTP/1.1`, ...lines], BODY));
    expectUnauthenticated(answer);
    expect(answer.text + rig.logLines.join('')).not.toMatch(/CANARY/);
  });

  test('for a key in the body', async () => {
    const body = JSON.stringify({
      query: LOOKUP,
      authorization: `Bearer ${SHOP}`,
      extensions: { authorization: `Bearer ${SHOP}`, headers: bearer(SHOP) },
    });
    const lines = post().map((line) =>
      line.startsWith('Content-Length') ? `Content-Length: ${body.length}` : line,
    );
    const answer = asAnswer(await exchange(url, lines, body));
    expectUnauthenticated(answer);
    expect(answer.text + rig.logLines.join('')).not.toMatch(/CANARY/);
  });

  test('before anything is said about what was asked', async () => {
    for (const body of ['{', '[]', '{"query":"{"}', '{"query":"{ nosuch }"}', '']) {
      const lines = post().map((line) =>
        line.startsWith('Content-Length') ? `Content-Length: ${body.length}` : line,
      );
      expectUnauthenticated(asAnswer(await exchange(url, lines, body)));
    }
  });

  test.each([90_000, 1_000_000_000])('before the body of %d bytes has been sent', async (size) => {
    const socket = await RawSocket.open(url);
    socket.write(`${[...post().slice(0, 3), `Content-Length: ${size}`].join('\r\n')}\r\n\r\n{"que`);
    expectUnauthenticated(asAnswer(await socket.answer()));
    socket.close();
  });

  test('before a body in chunks has ended', async () => {
    const socket = await RawSocket.open(url);
    socket.write(
      `${[...post().slice(0, 3), 'Transfer-Encoding: chunked'].join('\r\n')}\r\n\r\n4\r\n{"qu\r\n`,
    );
    expectUnauthenticated(asAnswer(await socket.answer()));
    socket.close();
  });

  test('for the second of two requests on a connection, whoever sent the first', async () => {
    const socket = await RawSocket.open(url);
    const good = post(`Authorization: Bearer ${SHOP}`).join('\r\n');
    const bad = post().join('\r\n');
    socket.write(`${good}\r\n\r\n${BODY}${bad}\r\n\r\n${BODY}${good}\r\n\r\n${BODY}`);
    const statuses = [];
    for (let left = 3; left > 0; left -= 1) statuses.push((await socket.answer()).status);
    socket.close();
    expect(statuses).toEqual([200, 401, 200]);
  });
});

describe('More than one Authorization header is refused', () => {
  const [good, bad] = [`Authorization: Bearer ${SHOP}`, 'Authorization: Bearer pgk_CANARY-nobody'];

  test.each([
    ['a right one first', [good, bad]],
    ['a right one last', [bad, good]],
    ['the same one twice', [good, good]],
    ['an empty one first', ['Authorization:', good]],
  ])('%s', async (_what, headers) => {
    const { status, body } = await exchange(url, post(...headers), BODY);
    expect(status).toBe(400);
    expect(JSON.parse(body)).toMatchObject({ errors: [{ extensions: { code: 'BAD_REQUEST' } }] });
    expect(rig.service.seen).toHaveLength(0);
    expect(body + rig.logLines.join('')).not.toContain('CANARY');
  });
});

test('A header larger than any server reads is refused before it is one', async () => {
  const { status, body } = await exchange(url, post(`Authorization: Bearer CANARY${'x'.repeat(20_000)}`));
  expect(status).toBe(431);
  expect(body).not.toContain('CANARY');
  expect(rig.service.seen).toHaveLength(0);
});

test('A key that was accepted is in no line of the log; its id is', async () => {
  await rig.client.ask(LOOKUP, {}, bearer(SHOP));
  const log = rig.logLines.join('');
  expect(log).toContain('service:shop');
  expect(log).not.toContain('CANARY');
});

test.each([
  ['/healthz', { status: 'ok' }],
  [
    '/readyz',
    { status: 'ready', checks: { journal: 'up', service: 'up', clock: 'steady', draining: false } },
  ],
])('The health of the process needs no key, and tells nothing else: %s', async (place, told) => {
  const answer = await fetch(`${url}${place}`);
  expect(answer.status).toBe(200);
  expect(await answer.json()).toEqual(told);
});

test('A file without clients locks everybody out', async () => {
  const { url: serviceUrl } = await testSandbox();
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'paygraph-keys-')), 'clients.json');
  writeFileSync(file, '[]');
  const client = await testGateway(serviceUrl, { env: { CLIENT_KEYS_FILE: file } });
  expectUnauthenticated(await client.ask(LOOKUP));
});
