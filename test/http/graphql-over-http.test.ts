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

describe('GraphQL over HTTP', () => {
  test.each(audits.map(({ id, name, fn }) => [id, name, fn] as const))('%s %s', async (_id, _name, audit) => {
    const result = await audit();
    expect(result.status === 'ok' ? result.status : `${result.status}: ${result.reason}`).toBe('ok');
  });

  test('is audited by more than fifty rules', () => {
    expect(audits.length).toBeGreaterThan(50);
  });
});
