import { requestText } from './wire';

/** What a request that is written by hand needs to know. */
export interface Aim {
  /** Of the gateway: host and port. */
  host: string;
  /** The header line of a client that may do everything. */
  authorization: string;
  /** A whole, authorised lookup: where a server takes it for a request of its own, the service is asked. */
  smuggled: string;
}

/** A request that two servers may understand in two ways, or none at all. */
export interface Malformed {
  name: string;
  write(aim: Aim): string;
  /** How it may be answered; 0 is a connection that ends without a word. */
  statuses: readonly number[];
  /** Whether what follows it is a request of its own by everybody's reading. */
  followed?: boolean;
}

const QUERY = '{"query":"{__typename}"}';
const JSON_TYPE = 'Content-Type: application/json';
const LENGTH = `Content-Length: ${QUERY.length}`;
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

interface Post {
  /** Header lines beside Host, Authorization and Content-Type. */
  with: readonly string[] | ((aim: Aim) => readonly string[]);
  body?: string | ((aim: Aim) => string);
  statuses?: readonly number[];
  followed?: boolean;
}

/** A POST to /graphql with headers of one's own, and a whole request behind it. */
const posted = (name: string, { with: more, body = QUERY, statuses = [400], followed }: Post): Malformed => ({
  name,
  statuses,
  followed,
  write: (aim) => {
    const headers = typeof more === 'function' ? more(aim) : more;
    const text = typeof body === 'function' ? body(aim) : body;
    const all = [`Host: ${aim.host}`, aim.authorization, JSON_TYPE, ...headers];
    return requestText('POST /graphql HTTP/1.1', all, text) + aim.smuggled;
  },
});

/** Exactly that, with a whole request behind it. */
const written = (name: string, statuses: readonly number[], write: (aim: Aim) => string): Malformed => ({
  name,
  statuses,
  write: (aim) => write(aim) + aim.smuggled,
});

const CHUNKED = 'Transfer-Encoding: chunked';
const EMPTY_CHUNKS = '0\r\n\r\n';

/** Where the body ends is said twice, or in a way that not everybody reads alike. */
const LENGTHS: Malformed[] = [
  posted('CL.TE: a length and chunks, the length reaching over the next request', {
    with: ({ smuggled }) => [`Content-Length: ${smuggled.length + EMPTY_CHUNKS.length}`, CHUNKED],
    body: EMPTY_CHUNKS,
  }),
  posted('TE.CL: chunks and a length, the next request in a chunk', {
    with: [CHUNKED, 'Content-Length: 4'],
    body: ({ smuggled }) => chunk(smuggled) + EMPTY_CHUNKS,
  }),
  ...[
    'Transfer-Encoding: xchunked',
    'Transfer-Encoding: chunked, identity',
    'Transfer-Encoding: identity',
    'Transfer-Encoding: gzip',
    'Transfer-Encoding: \x0bchunked',
    'Transfer-Encoding : chunked',
    ' Transfer-Encoding: chunked',
    'Transfer-Encoding:\r\n chunked',
    'Transfer-Encoding: "chunked"',
    'Transfer_Encoding: chunked\r\nTransfer-Encoding: cow',
  ].map((line) =>
    posted(`TE.TE: ${JSON.stringify(line)} beside a length`, {
      with: [line, LENGTH],
      statuses: [400, 501],
    }),
  ),
  posted('chunked twice', { with: [CHUNKED, CHUNKED], body: EMPTY_CHUNKS, statuses: [400, 501] }),
  posted('two lengths that differ', { with: [LENGTH, 'Content-Length: 0'] }),
  posted('two lengths that are the same', { with: [LENGTH, LENGTH] }),
  ...['5, 5', '-1', '+24', '0x18', '24 24', '', '2.4e1', '18446744073709551640', '٢٤'].map((length) =>
    posted(`the length ${JSON.stringify(length)}`, { with: [`Content-Length: ${length}`] }),
  ),
  posted('a length of more than everything', { with: ['Content-Length: 9007199254740993'], statuses: [413] }),
];

/** Chunks that are none. */
const CHUNKS: Malformed[] = [
  ...[
    'zz\r\n',
    '-1\r\n',
    '0x5\r\nhello\r\n',
    'FFFFFFFFFFFFFFFFF\r\n',
    '5;\r\nhelloXX',
    '5\r\nhelloworld\r\n',
    '5\nhello\n0\n\n',
    `5;${'x'.repeat(20_000)}\r\nhello\r\n`,
    '\r\n',
    '5 \r\nhello\r\n',
    '\0',
  ].map((body) =>
    posted(`the chunk ${JSON.stringify(body.slice(0, 24))}`, {
      with: [CHUNKED],
      body: body + EMPTY_CHUNKS,
      statuses: [400, 413],
    }),
  ),
  posted('a trailer that looks like a length', {
    with: [CHUNKED],
    body: `${chunk(QUERY)}0\r\nContent-Length: 400\r\nAuthorization: Bearer other\r\n\r\n`,
    statuses: [200, 400],
    followed: true,
  }),
];

/** Headers that are none, or are there more than once. */
const HEADERS: Malformed[] = [
  posted('two Host headers', { with: [LENGTH, 'Host: other.example'], followed: true }),
  posted('two Authorization headers', { with: [LENGTH, 'Authorization: Bearer other'], followed: true }),
  posted('the same Authorization header twice', {
    with: ({ authorization }) => [LENGTH, authorization],
    followed: true,
  }),
  posted('a header that goes on in the next line', { with: [LENGTH, 'X-Folded: a\r\n b'] }),
  posted('a header that goes on after a tab', { with: [LENGTH, 'X-Folded: a\r\n\tb'] }),
  posted('a header without a colon', { with: [LENGTH, 'NoColonAtAll'] }),
  posted('a header without a name', { with: [LENGTH, ': nameless'] }),
  posted('a header with a blank in its name', { with: [LENGTH, 'X Blank: a'] }),
  posted('a header with a NUL', { with: [LENGTH, 'X-Nul: a\0b'] }),
  posted('a header with a bare CR', { with: [LENGTH, 'X-Cr: a\rX-Other: b'] }),
  posted('a header with a bare LF', { with: [LENGTH, 'X-Lf: a\nTransfer-Encoding: chunked'] }),
  posted('a header of 64 KB', { with: [LENGTH, `X-Long: ${'a'.repeat(65_536)}`], statuses: [431] }),
  posted('4000 headers', {
    with: [LENGTH, ...Array.from({ length: 4000 }, (_, place) => `X-${place}: 1`)],
    statuses: [431],
  }),
  posted('an expectation that nobody knows', {
    with: [LENGTH, 'Expect: the-spanish-inquisition'],
    statuses: [417],
    followed: true,
  }),
];

const hosted = (
  host: string,
  statuses: readonly number[],
  version = 'HTTP/1.1',
  lines = [`Host: ${host}`],
): Malformed => ({
  ...written(`${version} with ${lines.join().slice(0, 60) || 'no Host'}`, statuses, ({ authorization }) =>
    requestText(`POST /graphql ${version}`, [...lines, authorization, JSON_TYPE, LENGTH], QUERY),
  ),
  followed: true,
});

/** A Host that is none. The gateway makes nothing of it, so that some are served; but it does not fail. */
const HOSTS: Malformed[] = [
  hosted('', [400], 'HTTP/1.1', []),
  ...['a b', '[::1', '<script>', '%zz', '::'].map((host) => hosted(host, [400])),
  ...['', '[::1]x', 'x:99999999', 'x:y', 'evil.example/path', 'user@evil.example', 'other.example'].map(
    (host) => hosted(host, [200, 400]),
  ),
  ...['..', '127.1', '0x7f000001', 'a'.repeat(10_000)].map((host) => hosted(host, [200, 400])),
  hosted('', [200, 400], 'HTTP/1.0', []),
];

const target = (text: string, statuses: readonly number[], method = 'GET'): Malformed => ({
  ...written(`${method} ${JSON.stringify(text.slice(0, 60))}`, statuses, ({ host, authorization }) =>
    requestText(`${method} ${text} HTTP/1.1`, [
      `Host: ${host}`,
      authorization,
      'Apollo-Require-Preflight: 1',
    ]),
  ),
  followed: true,
});

const ASKED = '?query=%7B__typename%7D';

/** Addresses that are none, or not in the form that is meant for this server. */
const TARGETS: Malformed[] = [
  target(`http://other.example/graphql${ASKED}`, [200, 400, 404]),
  target(`//other.example/graphql${ASKED}`, [400, 404]),
  target('other.example:443', [400, 404, 0], 'CONNECT'),
  target('*', [400, 404], 'OPTIONS'),
  target('*', [400, 404]),
  target('graphql', [400, 404]),
  target(ASKED, [400, 404]),
  target(`/graphql/../graphql${ASKED}`, [400, 404]),
  target(`/./graphql${ASKED}`, [400, 404]),
  target('/%2e%2e/%2e%2e/etc/passwd', [400, 404]),
  target('/..%2f..%2fetc/passwd', [400, 404]),
  target(`/graphql%00${ASKED}`, [400, 404]),
  target(`/graphql;x=1${ASKED}`, [400, 404]),
  target(`/GRAPHQL${ASKED}`, [400, 404]),
  target(`/graphql/${ASKED}`, [400, 404]),
  target('/%', [400, 404]),
  target('/%ff%fe', [400, 404]),
  target('/graphql?query=%', [400]),
  target('/graphql?query=%ff', [400]),
  target('/graphql?__proto__[x]=1&constructor=2', [400]),
  target('/graphql?query=1&query=2', [400]),
  target('/graphql\0', [400]),
  target('/graphql\x01', [400]),
  target('/graph ql', [400]),
  target(`/${'a'.repeat(4000)}`, [404]),
  target(`/${'a'.repeat(100_000)}`, [400, 414, 431]),
  target('/graphql#fragment', [400, 404]),
  target(`/graphql#${ASKED}`, [400, 404]),
  target(`/graphql${ASKED}#fragment`, [200, 400]),
  target('/graphql\xe9', [400, 404]),
  ...['TRACE', 'PROPFIND', 'get', 'GRAPHQL', 'G E T', ''].map((method) =>
    target('/graphql', [400, 404], method),
  ),
  ...['PUT', 'DELETE', 'PATCH'].map((method) => target('/graphql', [400, 404, 405, 415], method)),
];

/** What is no HTTP/1.1 at all. */
const OTHERS: Malformed[] = [
  written('HTTP/0.9', [400], () => 'GET /graphql\r\n'),
  written('HTTP/2 without asking', [400], () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  written('HTTP/9.9', [400, 505], ({ host }) => `GET /healthz HTTP/9.9\r\nHost: ${host}\r\n\r\n`),
  written('HTTP/1.1.1', [400], ({ host }) => `GET /healthz HTTP/1.1.1\r\nHost: ${host}\r\n\r\n`),
  written(
    'lines that end with LF',
    [400],
    ({ host, authorization }) =>
      `POST /graphql HTTP/1.1\nHost: ${host}\n${authorization}\n${JSON_TYPE}\n${LENGTH}\n\n${QUERY}`,
  ),
  written('the hello of TLS', [400], () => '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'),
  written('what SSH says', [400], () => 'SSH-2.0-OpenSSH_9.2\r\n'),
  written('what Redis is told', [400], () => '*1\r\n$4\r\nPING\r\n'),
  written('NUL bytes', [400], () => '\0'.repeat(64)),
  written('all bytes there are', [400], () =>
    String.fromCharCode(...Array.from({ length: 256 }, (_, byte) => byte)),
  ),
  written('a BOM first', [400], ({ host }) => `\xef\xbb\xbfGET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`),
];

export const MALFORMED: readonly Malformed[] = [
  ...LENGTHS,
  ...CHUNKS,
  ...HEADERS,
  ...HOSTS,
  ...TARGETS,
  ...OTHERS,
];
