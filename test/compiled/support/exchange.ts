import { request } from 'node:http';
import { AUTHORIZED } from '../../support/credentials';

/** A request to /graphql as a test words it. */
export interface Asked {
  /** POST where absent. */
  method?: string;
  /** What follows the address; empty where absent. */
  search?: string;
  /** Beside, or instead of, credentials and content-type; a header that is undefined is left out. */
  headers?: Record<string, string | string[] | undefined>;
  /** Sent as JSON, unless it is a text already. */
  body?: unknown;
}

/** An answer, without what differs from request to request. */
export interface Exchanged {
  status: number;
  /** Names and values in the order in which they came. */
  headers: [string, string][];
  body: string;
}

/** Headers of which only the presence says something. */
const OF_THE_MOMENT: ReadonlySet<string> = new Set(['date', 'x-request-id', 'retry-after']);

/** A text without the ids of requests, and without how long is to be waited, which shrinks as time passes. */
const withoutIds = (text: string): string =>
  text
    .replace(/"requestId":"[0-9a-f-]{36}"/g, '"requestId":"-"')
    .replace(/"retryAfterMs":\d+/g, '"retryAfterMs":0');

function headersOf(raw: readonly string[]): [string, string][] {
  const pairs = raw.flatMap((name, place): [string, string][] =>
    place % 2 === 0 ? [[name, raw[place + 1] ?? '']] : [],
  );
  return pairs.map(([name, value]) => [name, OF_THE_MOMENT.has(name.toLowerCase()) ? '-' : value]);
}

/** Sends exactly that, and reads what comes back, header by header. */
export function exchange(
  url: string,
  { method = 'POST', search = '', headers, body }: Asked,
): Promise<Exchanged> {
  const all = { ...AUTHORIZED, 'content-type': 'application/json', ...headers };
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const sent = request(`${url}${search}`, { method, headers: given as NodeJS.Dict<string> }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: headersOf(response.rawHeaders),
          body: withoutIds(Buffer.concat(chunks).toString('utf8')),
        }),
      );
    });
    sent.on('error', reject);
    sent.end(text);
  });
}
