import { AUTHORIZED } from './credentials';

/** An answer of the gateway to any HTTP request, GraphQL or not. */
export interface RawResult {
  status: number;
  headers: Headers;
  text: string;
  errors?: { message: string; path?: (string | number)[]; extensions: Record<string, unknown> }[];
  data?: unknown;
}

/** The parts of a GraphQL answer, where it is one. */
function partsOf(text: string): Pick<RawResult, 'errors' | 'data'> {
  try {
    const { errors, data } = Object(JSON.parse(text)) as Pick<RawResult, 'errors' | 'data'>;
    return { ...(errors && { errors }), ...(data !== undefined && { data }) };
  } catch {
    return {};
  }
}

/** Sends exactly that, with the credentials of a client that may do everything unless others are given, and reads what comes back. */
export async function raw(url: string, init: RequestInit = {}): Promise<RawResult> {
  const headers = new Headers(init.headers);
  if (!headers.has('authorization')) headers.set('authorization', AUTHORIZED.authorization);
  const response = await fetch(url, { redirect: 'manual', ...init, headers });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, ...partsOf(text) };
}

/** A POST of exactly that body. */
export const post = (url: string, body: string, headers: Record<string, string> = {}): Promise<RawResult> =>
  raw(url, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });

/** What every GraphQL error has, whatever its cause. */
export function expectErrors(result: Pick<RawResult, 'errors' | 'headers'>, code: string | RegExp): void {
  expect(result.errors?.length).toBeGreaterThan(0);
  for (const { extensions, message } of result.errors ?? []) {
    expect(message).not.toBe('');
    expect(extensions).toMatchObject({
      code: expect.stringMatching(typeof code === 'string' ? new RegExp(`^${code}$`) : code) as unknown,
      retryable: expect.any(Boolean) as unknown,
      requestId: result.headers.get('x-request-id'),
    });
  }
}
