import { bearer, keyOf } from '../access/support/rig';
import { post, raw, type RawResult } from '../gateway/fixtures/raw';
import { AUTHORIZED } from '../support/credentials';
import { EventStream, parametersOf } from './support/event-stream';
import { liveRig, watching, type LiveRig } from './support/live-rig';

const EVENTS = { accept: 'text/event-stream' };

let rig: LiveRig;
let url: string;

beforeAll(async () => {
  rig = await liveRig();
  url = `${rig.client.url}/stream`;
});

const { query: WATCH } = watching();

describe('Before a stream begins', () => {
  const asked = JSON.stringify(watching());
  const noKey = bearer(keyOf('nobody'));

  /** What a request has to be refused with, whether it is for events or for an answer. */
  const REFUSED: [
    what: string,
    status: number,
    code: string,
    body: string,
    headers: Record<string, string>,
  ][] = [
    ['with a key that nobody has', 401, 'UNAUTHENTICATED', asked, noKey],
    ['with credentials of another kind', 401, 'UNAUTHENTICATED', asked, { authorization: 'Basic YTpi' }],
    ['with a body that is no JSON', 400, 'BAD_REQUEST', '{"query":', {}],
    ['with a list', 400, 'BAD_REQUEST', `[${asked}]`, {}],
    ['with null', 400, 'BAD_REQUEST', 'null', {}],
    ['with an empty body', 400, 'BAD_REQUEST', '', {}],
    ['with a document that is no text', 400, 'BAD_REQUEST', '{"query":5}', {}],
    [
      'with a name that is no text',
      400,
      'BAD_REQUEST',
      JSON.stringify({ query: WATCH, operationName: 5 }),
      {},
    ],
    [
      'with variables that are no object',
      400,
      'BAD_REQUEST',
      JSON.stringify({ query: WATCH, variables: 'x' }),
      {},
    ],
    ['with plain text', 400, 'BAD_REQUEST', asked, { 'content-type': 'text/plain' }],
    ['with a form', 415, 'BAD_REQUEST', 'query=x', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['with files', 415, 'BAD_REQUEST', 'x', { 'content-type': 'multipart/form-data; boundary=x' }],
    ['with a body that is too large', 413, 'BAD_REQUEST', JSON.stringify({ query: 'x'.repeat(200_000) }), {}],
  ];

  test.each(REFUSED)(
    'a POST %s is refused with %s %s, as one to /graphql is',
    async (...[, status, code, body, headers]) => {
      const [stream, answer] = [
        await post(url, body, { ...EVENTS, ...headers }),
        await post(rig.client.url, body, headers),
      ];
      for (const { errors, ...seen } of [stream, answer]) {
        expect(seen.status).toBe(status);
        expect(errors).toMatchObject([
          { extensions: { code, retryable: false, requestId: seen.headers.get('x-request-id') } },
        ]);
      }
      expect(stream.headers.get('content-type')).toMatch(/^application\/json/);
      expect(stream.headers.get('cache-control')).toBe('no-store');
      expect(stream.headers.get('www-authenticate')).toBe(answer.headers.get('www-authenticate'));
    },
  );

  test.each(['GET', 'POST'] as const)('a %s without credentials is refused with 401', async (method) => {
    const target = method === 'GET' ? `${url}?${parametersOf(watching())}` : url;
    const body = method === 'POST' ? asked : undefined;
    const answer = await fetch(target, {
      method,
      body,
      headers: { ...EVENTS, 'content-type': 'application/json' },
    });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer\b/);
  });

  test.each([
    ['application/json'],
    ['text/html'],
    ['application/graphql-response+json, application/json;q=0.9'],
  ])('a client that accepts %s only is told with 406 what there is', async (accept) => {
    const answer = await post(url, asked, { accept });
    expect(answer.status).toBe(406);
    expect(answer.errors).toMatchObject([
      {
        message: expect.stringContaining('text/event-stream') as unknown,
        extensions: { code: 'BAD_REQUEST' },
      },
    ]);
  });

  test.each([
    ['text/event-stream'],
    ['*/*'],
    ['text/event-stream, multipart/mixed'],
    ['application/json, text/event-stream'],
  ])('a client that accepts %s gets events', async (accept) => {
    const stream = await EventStream.open(url, watching(), { headers: { accept } });
    expect(await stream.nextData()).toEqual({ status: 'PENDING' });
    stream.leave();
  });

  test.each(['PUT', 'DELETE', 'PATCH'])('%s is not served', async (method) => {
    expect((await raw(url, { method, headers: EVENTS })).status).toBe(404);
  });

  const VARIABLES = JSON.stringify(watching().variables);
  test.each([
    ['variables that are no JSON', { query: WATCH, variables: '{' }],
    ['variables that are a number', { query: WATCH, variables: '5' }],
    ['variables that are a list', { query: WATCH, variables: '[]' }],
    ['extensions that are no JSON', { query: WATCH, variables: VARIABLES, extensions: '{' }],
  ])('a GET with %s is refused with 400, as one to /graphql is', async (_what, parameters) => {
    const tail = new URLSearchParams(parameters).toString();
    const stream = await once(`${url}?${tail}`, { headers: EVENTS });
    const answer = await raw(`${rig.client.url}?${tail}`, { headers: { 'apollo-require-preflight': '1' } });
    expect(codesOf(answer)).toEqual(['BAD_REQUEST']);
    expect({ status: stream.status, codes: codesOf(stream) }).toEqual({
      status: 400,
      codes: ['BAD_REQUEST'],
    });
  });

  test('a GET that gives its document twice is refused: which one counts is not clear', async () => {
    const tail = `${parametersOf(watching())}&query=${encodeURIComponent(WATCH)}`;
    expect((await once(`${url}?${tail}`, { headers: EVENTS })).status).toBe(400);
  });
});

/** What was asked at the address of events, read to its end where it is one; a stream that goes on counts as 200. */
async function once(target: string, init: RequestInit): Promise<RawResult> {
  const control = new AbortController();
  const response = await fetch(target, {
    ...init,
    signal: control.signal,
    headers: { ...AUTHORIZED, ...init.headers },
  });
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    text += decoder.decode(chunk);
    if (text.includes('event: next')) break;
  }
  control.abort();
  const body = /^data: (.*)$/m.exec(text)?.[1] ?? text;
  const { errors } = JSON.parse(body) as Pick<RawResult, 'errors'>;
  return { status: response.status, headers: response.headers, text, errors };
}

const codesOf = ({ errors = [] }: Pick<RawResult, 'errors'>): unknown[] =>
  errors.map(({ extensions }) => extensions['code']);
