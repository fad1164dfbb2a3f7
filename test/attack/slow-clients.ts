import { Wire, requestText, type WireAnswer } from './wire';

/** A client that takes its time. */
export interface SlowClient {
  name: string;
  /** What it sends at once. */
  first(host: string, authorization: string): string;
  /** What it sends again and again after that; nothing where it only waits. */
  drip?: string;
}

const head = (host: string, authorization: string, more: readonly string[]): string =>
  requestText('POST /graphql HTTP/1.1', [
    `Host: ${host}`,
    authorization,
    'Content-Type: application/json',
    ...more,
  ]);

/** Clients that never come to the end of their request, by where they stop. */
export const SLOW_CLIENTS: readonly SlowClient[] = [
  { name: 'connects and says nothing', first: () => '' },
  { name: 'stops in the first line', first: () => 'POST /gra' },
  { name: 'sends the first line letter by letter', first: () => 'POST /', drip: 'a' },
  {
    name: 'never ends its headers',
    first: (host) => `POST /graphql HTTP/1.1\r\nHost: ${host}\r\n`,
    drip: 'X-A: b\r\n',
  },
  { name: 'stops in a header', first: (host) => `POST /graphql HTTP/1.1\r\nHost: ${host}\r\nX-A: ` },
  {
    name: 'sends headers and no body',
    first: (host, authorization) => head(host, authorization, ['Content-Length: 100']),
  },
  {
    name: 'sends its body letter by letter',
    first: (host, authorization) => head(host, authorization, ['Content-Length: 90000']),
    drip: ' ',
  },
  {
    name: 'sends its body in chunks that never end',
    first: (host, authorization) => head(host, authorization, ['Transfer-Encoding: chunked']),
    drip: '1\r\n \r\n',
  },
  {
    name: 'waits for leave to send its body',
    first: (host, authorization) =>
      head(host, authorization, ['Content-Length: 100', 'Expect: 100-continue']),
  },
  {
    name: 'begins a second request and stops',
    first: (host) => `GET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\nGET /healthz HT`,
  },
];

const DRIP_MS = 20;

/** Plays a slow client until the server has had enough of it; resolves to what it was told. */
export async function playSlowly(
  url: string,
  client: SlowClient,
  authorization: string,
): Promise<WireAnswer[]> {
  const wire = await Wire.open(url);
  wire.write(client.first(new URL(url).host, authorization));
  const { drip } = client;
  const timer = drip === undefined ? undefined : setInterval(() => wire.write(drip), DRIP_MS);
  try {
    return await wire.end();
  } finally {
    clearInterval(timer);
  }
}
