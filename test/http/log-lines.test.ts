import { createInput } from '../exactly-once/support/caller';
import { newKey } from '../exactly-once/support/rig';
import { LOG_BREAKS, faultOfLine } from '../attack/log-breaks';
import { Wire, postText, requestText } from '../attack/wire';
import { AUTHORIZED } from '../support/credentials';
import { CHANNEL } from '../support/gateway';
import { startServer, type Server } from './support/servers';

const CREATE = `mutation ($input: CreatePaymentInput!) { createPayment(input: $input) { __typename ... on UserError { message } } }`;
const LOOKUP = `query ($c: UUID!, $e: String) { payment(channel: $c, externalId: $e) { __typename } }`;

const json = (body: object): string => JSON.stringify(body);

/** Every place of the body where a caller writes a text; what follows the text is a create that is put on record or not. */
const BODIES: [string, audited: number, (text: string) => string][] = [
  ['the name of the operation', 0, (text) => json({ query: '{ __typename }', operationName: text })],
  ['the document', 0, (text) => json({ query: `{ __typename } ${text}` })],
  ['a literal', 0, (text) => json({ query: `{ node(id: ${JSON.stringify(text)}) { id } }` })],
  ['a variable of a lookup', 0, (text) => json({ query: LOOKUP, variables: { c: CHANNEL, e: text } })],
  ['the name of a variable', 0, (text) => json({ query: LOOKUP, variables: { c: CHANNEL, [text]: 1 } })],
  ['a variable of the wrong type', 0, (text) => json({ query: LOOKUP, variables: { c: text } })],
  ['the name of a field of the body', 0, (text) => json({ query: '{ __typename }', [text]: 1 })],
  ['the id of a document', 0, (text) => json({ documentId: text })],
  [
    'the hash of a persisted query',
    0,
    (text) => json({ extensions: { persistedQuery: { version: 1, sha256Hash: text } } }),
  ],
  ...['idempotencyKey', 'externalId', 'description', 'returnUrl', 'callbackUrl'].map(
    (field): [string, number, (text: string) => string] => [
      `${field} of a create`,
      1,
      (text) =>
        json({ query: CREATE, variables: { input: createInput('payment', newKey(), { [field]: text }) } }),
    ],
  ),
  [
    'a method of one’s own',
    1,
    (text) =>
      json({
        query: CREATE,
        variables: {
          input: createInput('payment', newKey(), {
            amount: { currency: 'USD', value: '1.00' },
            method: { other: { fields: { note: text } } },
          }),
        },
      }),
  ],
];

/** Header values may hold Latin-1 and tabs; names that loggers like to print. */
const HEADERS = [
  'User-Agent',
  'X-Request-Id',
  'X-Forwarded-For',
  'Referer',
  'Origin',
  'Cookie',
  'Apollographql-Client-Name',
  'Apollographql-Client-Version',
  'Traceparent',
  'Accept',
];

let server: Server;
let host: string;

beforeAll(async () => {
  server = await startServer({ TRUSTED_PROXIES: '127.0.0.0/8' });
  host = `Host: ${new URL(server.base).host}`;
});

const authorization = `Authorization: ${AUTHORIZED.authorization}`;

/** Sends it, and returns what was written meanwhile to the log and to the audit log. */
async function written(text: string): Promise<{ log: string[]; audit: string[] }> {
  const before = server.auditText().length;
  server.logLines.length = 0;
  const wire = await Wire.open(server.base);
  await wire.write(text).end();
  const audit = server.auditText().slice(before);
  return { log: [...server.logLines], audit: audit === '' ? [] : audit.slice(0, -1).split('\n') };
}

function expectWholeLines(lines: readonly string[]): void {
  expect(lines.flatMap((line) => faultOfLine(line) ?? [])).toEqual([]);
}

describe.each(LOG_BREAKS)('%s', (_name, text) => {
  test.each(BODIES)('in %s: one event stays one line', async (_where, audited, body) => {
    const { log, audit } = await written(postText(body(text), [host, authorization, 'Connection: close']));
    expectWholeLines([...log, ...audit]);
    expect(log.join('')).not.toContain('FORGED');
    expect(log.length).toBeLessThanOrEqual(2);
    // An input that GraphQL itself refuses never gets as far as being a call.
    expect(audit.length).toBeLessThanOrEqual(audited);
  });

  test('in an address', async () => {
    const path = encodeURIComponent(text.toWellFormed());
    for (const target of [`/${path}`, `/graphql?query=${path}&operationName=${path}`, `/graphql?${path}=1`]) {
      const { log, audit } = await written(
        requestText(`GET ${target} HTTP/1.1`, [
          host,
          authorization,
          'Apollo-Require-Preflight: 1',
          'Connection: close',
        ]),
      );
      expectWholeLines(log);
      expect(log.join('')).not.toContain('FORGED');
      expect(audit).toEqual([]);
    }
  });
});

describe('Header values, as far as HTTP allows', () => {
  const allowed = LOG_BREAKS.map(([, text]) => text).filter((text) => /^[\t\x20-\x7e\x80-\xff]*$/.test(text));

  test.each(HEADERS)('%s', async (name) => {
    expect(allowed.length).toBeGreaterThan(2);
    for (const text of [...allowed, `a\tFORGED`]) {
      const input = createInput('payment', newKey());
      const { log, audit } = await written(
        postText(json({ query: CREATE, variables: { input } }), [
          host,
          authorization,
          `${name}: ${text}`,
          'Connection: close',
        ]),
      );
      expectWholeLines([...log, ...audit]);
      expect(log.join('')).not.toContain('FORGED');
      expect([log.length, audit.length]).toEqual([1, 1]);
    }
  });

  test('Authorization', async () => {
    for (const text of allowed) {
      const { log, audit } = await written(
        postText(json({ query: '{ __typename }' }), [
          host,
          `Authorization: Bearer ${text}`,
          'Connection: close',
        ]),
      );
      expectWholeLines(log);
      expect(log.join('')).not.toContain('FORGED');
      expect(audit).toEqual([]);
    }
  });
});

test('what breaks a log is seen to break it', () => {
  for (const [, text] of LOG_BREAKS.slice(0, 5)) {
    const line = `{"level":30,"msg":"${text}"}\n`;
    expect(() => expectWholeLines([line])).toThrow();
  }
});
