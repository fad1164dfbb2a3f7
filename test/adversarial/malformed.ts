import { requestText } from '../support/wire';

export interface RequestTarget {
  host: string;
  authorization: string;
  /** A complete, authorised lookup. A gateway that treats it as a separate request sends it to the service. */
  smuggled: string;
}

export interface Malformed {
  name: string;
  write(aim: RequestTarget): string;
  /** Acceptable statuses; 0: the connection is closed without a response. */
  statuses: readonly number[];
  /** Whether every server must treat the bytes that follow as a separate request. */
  followed?: boolean;
}

const QUERY = '{"query":"{__typename}"}';
const JSON_TYPE = 'Content-Type: application/json';
const LENGTH = `Content-Length: ${QUERY.length}`;
const CHUNKED = 'Transfer-Encoding: chunked';
const EMPTY_CHUNKS = '0\r\n\r\n';
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

interface Post {
  /** Header lines in addition to Host, Authorization and Content-Type. */
  with: readonly string[];
  body?: string;
  statuses?: readonly number[];
  followed?: boolean;
}

/** A POST to /graphql with custom headers, followed by a complete request. */
const posted = (name: string, of: Post | ((aim: RequestTarget) => Post)): Malformed => ({
  name,
  statuses: (typeof of === 'object' && of.statuses) || [400],
  followed: typeof of === 'object' && of.followed,
  write: (aim) => {
    const { with: headers, body = QUERY } = typeof of === 'object' ? of : of(aim);
    const all = [`Host: ${aim.host}`, aim.authorization, JSON_TYPE, ...headers];
    return requestText('POST /graphql HTTP/1.1', all, body) + aim.smuggled;
  },
});

/** A POST to /graphql with a correct Content-Length and one more header, followed by a complete request. */
const headed = (header: string, statuses?: readonly number[], followed?: boolean): Malformed =>
  posted(`the header ${JSON.stringify(header.slice(0, 40))}`, { with: [LENGTH, header], statuses, followed });

const LENGTHS: Malformed[] = [
  posted('CL.TE: Content-Length and chunks, the length includes the next request', ({ smuggled }) => ({
    with: [`Content-Length: ${smuggled.length + EMPTY_CHUNKS.length}`, CHUNKED],
    body: EMPTY_CHUNKS,
  })),
  posted('TE.CL: chunks and Content-Length, the next request in a chunk', ({ smuggled }) => ({
    with: [CHUNKED, 'Content-Length: 4'],
    body: chunk(smuggled) + EMPTY_CHUNKS,
  })),
  ...['xchunked', 'chunked, identity', 'gzip', '\x0bchunked', '\r\n chunked', '"chunked"'].map((value) =>
    headed(`Transfer-Encoding: ${value}`, [400, 501]),
  ),
  headed('Transfer-Encoding : chunked', [400, 501]),
  headed('Transfer_Encoding: chunked\r\nTransfer-Encoding: cow', [400, 501]),
  posted('chunked twice', { with: [CHUNKED, CHUNKED], body: EMPTY_CHUNKS, statuses: [400, 501] }),
  headed('Content-Length: 0'),
  headed(LENGTH),
  ...['5, 5', '-1', '+24', '0x18', '', '18446744073709551640'].map((length) =>
    posted(`the Content-Length ${JSON.stringify(length)}`, { with: [`Content-Length: ${length}`] }),
  ),
  posted('a huge Content-Length', { with: ['Content-Length: 9007199254740993'], statuses: [413] }),
  ...[
    ...['zz\r\n', '-1\r\n', '0x5\r\nhello\r\n', 'FFFFFFFFFFFFFFFFF\r\n', '5\r\nhelloworld\r\n', '\0'],
    ...['5\nhello\n0\n\n', `5;${'x'.repeat(20_000)}\r\nhello\r\n`],
  ].map((body) =>
    posted(`the chunk ${JSON.stringify(body.slice(0, 24))}`, {
      with: [CHUNKED],
      body: body + EMPTY_CHUNKS,
      statuses: [400, 413],
    }),
  ),
  posted('a trailer with the name Content-Length', {
    with: [CHUNKED],
    body: `${chunk(QUERY)}0\r\nContent-Length: 400\r\nAuthorization: Bearer other\r\n\r\n`,
    statuses: [200, 400],
    followed: true,
  }),
];

const HEADERS: Malformed[] = [
  headed('Host: other.example', [400], true),
  headed('Authorization: Bearer other', [400], true),
  ...['X-Folded: a\r\n b', 'NoColonAtAll', ': nameless', 'X Blank: a', 'X-Nul: a\0b'].map((line) =>
    headed(line),
  ),
  ...['X-Cr: a\rX-Other: b', 'X-Lf: a\nTransfer-Encoding: chunked'].map((line) => headed(line)),
  headed(`X-Long: ${'a'.repeat(65_536)}`, [431]),
  headed(Array.from({ length: 4000 }, (_, place) => `X-${place}: 1`).join('\r\n'), [431]),
  headed('Expect: the-spanish-inquisition', [417], true),
];

const written = (name: string, statuses: readonly number[], write: Malformed['write']): Malformed => ({
  name,
  statuses,
  write: (aim) => write(aim) + aim.smuggled,
});

const target = (text: string, statuses: readonly number[] = [400, 404], method = 'GET'): Malformed => ({
  ...written(`${method} ${JSON.stringify(text.slice(0, 60))}`, statuses, ({ host, authorization }) => {
    const headers = [`Host: ${host}`, authorization, 'Apollo-Require-Preflight: 1'];
    return requestText(`${method} ${text} HTTP/1.1`, headers);
  }),
  followed: true,
});

const LOOKUP = '?query=%7B__typename%7D';

const TARGETS: Malformed[] = [
  target(`http://other.example/graphql${LOOKUP}`, [200, 400, 404]),
  target(`//other.example/graphql${LOOKUP}`),
  target('other.example:443', [400, 404, 0], 'CONNECT'),
  target('*', [400, 404], 'OPTIONS'),
  ...['graphql', '/graphql/..', '/GRAPHQL', '/graphql;x=1', '/graphql%00', '/graphql#'].map((path) =>
    target(`${path}${LOOKUP}`),
  ),
  ...['/..%2f..%2fetc/passwd', '/%', '/%ff%fe', '/graphql\xe9'].map((path) => target(path)),
  ...['?query=%', '?query=%ff', '?__proto__[x]=1&constructor=2', '?query=1&query=2', '\0'].map((end) =>
    target(`/graphql${end}`, [400]),
  ),
  target('/graph ql', [400]),
  target(`/${'a'.repeat(100_000)}`, [400, 414, 431]),
  target(`/graphql${LOOKUP}#fragment`, [200, 400]),
  ...['TRACE', 'get', 'G E T', ''].map((method) => target('/graphql', [400, 404], method)),
  ...['PUT', 'DELETE', 'PATCH'].map((method) => target('/graphql', [400, 404, 405, 415], method)),
];

const OTHERS: Malformed[] = [
  ...['GET /graphql\r\n', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', '\x16\x03\x01\x02', '\0'.repeat(64)].map(
    (text) => written(`not HTTP: ${JSON.stringify(text.slice(0, 24))}`, [400], () => text),
  ),
  written('HTTP/9.9', [400, 505], ({ host }) => `GET /healthz HTTP/9.9\r\nHost: ${host}\r\n\r\n`),
  written('a leading BOM', [400], ({ host }) => `\xef\xbb\xbfGET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`),
  written('lines that end with LF', [400], ({ host, authorization }) =>
    ['POST /graphql HTTP/1.1', `Host: ${host}`, authorization, JSON_TYPE, LENGTH, '', QUERY].join('\n'),
  ),
];

export const MALFORMED: readonly Malformed[] = [...LENGTHS, ...HEADERS, ...TARGETS, ...OTHERS];
