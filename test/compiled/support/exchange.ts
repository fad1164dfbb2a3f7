import { request } from 'node:http';
import { AUTHORIZED } from '../../support/credentials';

/** A request to /graphql. */
export interface TestRequest {
  /** Default: POST. */
  method?: string;
  /** The query string, with `?`. Default: none. */
  search?: string;
  /** Headers added to authorization and content-type, or replacing them; an undefined header is not sent. */
  headers?: Record<string, string | string[] | undefined>;
  /** A string is sent as it is, any other value as JSON. */
  body?: unknown;
}

/** A response without the parts that differ from request to request. */
export interface ComparableResponse {
  status: number;
  /** Names and values in the order of arrival. */
  headers: [string, string][];
  body: string;
}

/** Headers of which only the presence is compared. */
const VARYING_HEADERS: ReadonlySet<string> = new Set(['date', 'x-request-id', 'retry-after']);

/** Replaces the request ids and remaining times in a text. */
const withoutIds = (text: string): string =>
  text
    .replace(/"requestId":"[0-9a-f-]{36}"/g, '"requestId":"-"')
    .replace(/"retryAfterMs":\d+/g, '"retryAfterMs":0');

function headersOf(raw: readonly string[]): [string, string][] {
  const pairs = raw.flatMap((name, place): [string, string][] =>
    place % 2 === 0 ? [[name, raw[place + 1] ?? '']] : [],
  );
  return pairs.map(([name, value]) => [name, VARYING_HEADERS.has(name.toLowerCase()) ? '-' : value]);
}

/** Sends exactly this request, and reads the raw headers. */
export function exchange(
  url: string,
  { method = 'POST', search = '', headers, body }: TestRequest,
): Promise<ComparableResponse> {
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
