import { serverAudits } from 'graphql-http';
import { AUTHORIZED } from '../support/credentials';
import { startServer } from './support/servers';

let url: string;

beforeAll(async () => {
  // Introspection is on, as in every test gateway: some audits ask for the schema.
  url = (await startServer()).client.url;
});

/** A client of this gateway: it says who it is, and sends the header without which a GET could come from any page. */
const fetchAsClient = (input: string, init: RequestInit = {}): Promise<Response> =>
  fetch(input, {
    ...init,
    headers: { ...(init.headers as Record<string, string>), ...AUTHORIZED, 'apollo-require-preflight': '1' },
  });

const audits = serverAudits({ url: () => url, fetchFn: fetchAsClient });

/**
 * Recommendations for clients of old, which took any other status for a broken connection. Here an operation that was not
 * carried out is no success in any media type: proxies, monitors and load balancers go by the status.
 */
const NOT_FOLLOWED: ReadonlySet<string> = new Set([
  // SHOULD use 200 status code on document parsing failure when accepting application/json
  '572B',
  // SHOULD use 200 status code on document validation failure when accepting application/json
  'FDE2',
  // SHOULD use a status code of 200 on variable coercion failure when accepting application/json
  '7B9B',
]);

describe('GraphQL over HTTP', () => {
  const followed = audits.filter(({ id }) => !NOT_FOLLOWED.has(id));

  test.each(followed.map(({ id, name, fn }) => [id, name, fn] as const))(
    '%s %s',
    async (_id, _name, audit) => {
      const result = await audit();
      expect(result.status === 'ok' ? result.status : `${result.status}: ${result.reason}`).toBe('ok');
    },
  );

  const others = audits.filter(({ id }) => NOT_FOLLOWED.has(id));

  test.each(others.map(({ id, name, fn }) => [id, name, fn] as const))(
    '%s %s: not followed, for a status that tells the truth',
    async (_id, _name, audit) => {
      const result = await audit();
      expect(result).toMatchObject({ status: 'warn', response: { status: 400 } });
    },
  );

  test('nothing but recommendations is not followed', () => {
    expect(others).toHaveLength(NOT_FOLLOWED.size);
    for (const { name } of others) expect(name).toMatch(/^SHOULD /);
    expect(followed.length).toBeGreaterThan(50);
  });
});
