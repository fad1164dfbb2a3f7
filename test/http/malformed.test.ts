import { randomUUID } from 'node:crypto';
import { faultsOfHttp } from '../attack/judge';
import { MALFORMED, type Aim, type Malformed } from '../attack/malformed';
import { Wire, postText, type WireAnswer } from '../attack/wire';
import { AUTHORIZED } from '../support/credentials';
import { expectErrors, raw } from '../gateway/fixtures/raw';
import { CHANNEL } from '../support/gateway';
import { startServer, type Server } from './support/servers';

let server: Server;

beforeAll(async () => {
  server = await startServer();
});

const authorization = `Authorization: ${AUTHORIZED.authorization}`;

/** A whole lookup of that external id, after which the connection ends. */
function lookup(host: string, externalId: string): string {
  const query = `{ payment(channel: "${CHANNEL}", externalId: "${externalId}") { __typename } }`;
  return postText(JSON.stringify({ query }), [`Host: ${host}`, authorization, 'Connection: close']);
}

const wasLookedUp = (externalId: string): boolean =>
  server.service.seen.some(({ query }) => query.get('external_id') === externalId);

interface Outcome {
  answers: WireAnswer[];
  /** Whether the request that was hidden behind the other reached the service. */
  reached: boolean;
}

async function send(malformed: Pick<Malformed, 'write'>): Promise<Outcome> {
  const host = new URL(server.base).host;
  const hidden = `hidden-${randomUUID()}`;
  const aim: Aim = { host, authorization, smuggled: lookup(host, hidden) };
  const wire = await Wire.open(server.base);
  const answers = await wire.write(malformed.write(aim)).end();
  return { answers, reached: wasLookedUp(hidden) };
}

async function expectToServe(): Promise<void> {
  expect(await server.client.ask('{ __typename }')).toMatchObject({ status: 200 });
}

const table = MALFORMED.map((one): [string, Malformed] => [one.name, one]);

describe('A request that can be understood in two ways, or none', () => {
  afterEach(expectToServe);

  test.each(table)('%s', async (_name, malformed) => {
    const { answers, reached } = await send(malformed);
    const [first, second, ...more] = answers;
    expect(malformed.statuses).toContain(first?.status ?? 0);
    expect(faultsOfHttp(first ?? { status: 0, body: '' })).toEqual([]);
    if (malformed.followed) {
      // What follows is a request of its own; the connection may also have ended before.
      if (second) expect(JSON.parse(second.body)).toEqual({ data: { payment: null } });
      expect(more).toEqual([]);
    } else {
      expect([reached, second]).toEqual([false, undefined]);
    }
  });
});

test('a request behind another is seen to be carried out where it is one', async () => {
  const write = ({ host, smuggled }: Aim): string =>
    postText('{"query":"{ __typename }"}', [`Host: ${host}`, authorization]) + smuggled;
  const { answers, reached } = await send({ write });
  expect([answers.map(({ status }) => status), reached]).toEqual([[200, 200], true]);
});

test('HEAD asks for no operation', async () => {
  const asked = `${server.base}/graphql?query=${encodeURIComponent('{ __typename }')}`;
  const answer = await fetch(asked, {
    method: 'HEAD',
    headers: { ...AUTHORIZED, 'apollo-require-preflight': '1' },
  });
  expect([200, 400, 404, 405]).toContain(answer.status);
  expect(await answer.text()).toBe('');
});

describe('A GET is read in one way by all who check it', () => {
  const bomb = `{ ${Array.from({ length: 200 }, (_, place) => `a${place}: __typename`).join(' ')} }`;

  test.each([
    ['as it should be written', encodeURIComponent(bomb)],
    ['with + for blanks', encodeURIComponent(bomb).replaceAll('%20', '+')],
  ])('a document that is too large is refused: %s', async (_how, query) => {
    const answer = await raw(`${server.base}/graphql?query=${query}`, {
      headers: { 'apollo-require-preflight': '1' },
    });
    expectErrors(answer, 'OPERATION_TOO_LARGE');
  });

  test.each([
    ['with bytes that are no UTF-8 in a comment', `%23%ff%0A${encodeURIComponent(bomb)}`],
    ['with an escape that is none in a comment', `%23%zz%0A${encodeURIComponent(bomb)}`],
    ['with a lone % in a comment', `%23%%0A${encodeURIComponent(bomb)}`],
  ])('a document that is not percent-encoded UTF-8 is refused: %s', async (_how, query) => {
    const answer = await raw(`${server.base}/graphql?query=${query}`, {
      headers: { 'apollo-require-preflight': '1' },
    });
    expectErrors(answer, 'BAD_REQUEST');
  });

  test.each(['%71uery', 'query', 'qu%65ry'])('whatever its name is written like: %s', async (name) => {
    const answer = await raw(`${server.base}/graphql?${name}=${encodeURIComponent(bomb)}`, {
      headers: { 'apollo-require-preflight': '1' },
    });
    expectErrors(answer, 'OPERATION_TOO_LARGE');
  });
});
