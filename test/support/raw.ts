import { AUTHORIZED } from './credentials';
import type { GraphqlResult } from './gateway';

export interface RawResult extends Omit<GraphqlResult<unknown>, 'data'> {
  data?: unknown;
}

/** Sends a request with the credentials of a client with all rights, unless others are given. */
export async function raw(url: string, init: RequestInit = {}): Promise<RawResult> {
  const headers = new Headers(init.headers);
  if (!headers.has('authorization')) headers.set('authorization', AUTHORIZED.authorization);
  const response = await fetch(url, { redirect: 'manual', ...init, headers });
  const text = await response.text();
  const isJson = text !== '' && response.headers.get('content-type')?.includes('json');
  const { errors, data } = (isJson ? JSON.parse(text) : {}) as Pick<RawResult, 'errors' | 'data'>;
  const parts = { ...(errors && { errors }), ...(data !== undefined && { data }) };
  return { status: response.status, headers: response.headers, text, ...parts };
}

export const post = (url: string, body: string, headers: Record<string, string> = {}): Promise<RawResult> =>
  raw(url, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });

/** Expects errors with this code and the properties that every GraphQL error has. */
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
