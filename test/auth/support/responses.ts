import type { GraphqlResult } from '../../support/gateway';

type Answer = Pick<GraphqlResult<unknown>, 'status' | 'headers' | 'text' | 'errors' | 'data'>;

/** Expects the same 401 for all missing or invalid credentials. */
export function expectUnauthenticated({ status, headers, text, errors, data }: Answer): void {
  expect({ status, text }).toMatchObject({ status: 401 });
  expect(headers.get('www-authenticate')).toMatch(/^Bearer\b/);
  expect(headers.get('content-type')).toMatch(/^application\/(json|graphql-response\+json)/);
  expect(errors).toMatchObject([
    { extensions: { code: 'UNAUTHENTICATED', retryable: false, requestId: headers.get('x-request-id') } },
  ]);
  expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  expect(data).toBeUndefined();
}

/** Expects FORBIDDEN for the field, and no data. */
export function expectForbidden({ status, headers, errors, data }: Answer, field: string): void {
  expect(status).toBe(200);
  expect(errors).toMatchObject([
    {
      path: [field],
      extensions: { code: 'FORBIDDEN', retryable: false, requestId: headers.get('x-request-id') },
    },
  ]);
  // A non-null field makes the whole data null.
  expect([null, { [field]: null }]).toContainEqual(data);
}

export const codesOf = ({ errors = [] }: Answer): unknown[] =>
  errors.map(({ extensions }) => extensions['code']);

const ANY_UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** A response without what is new in each: times, UUIDs and the given ids. */
export function comparable({ status, headers, text }: Answer, ...ids: string[]): object {
  const blank = (written: string): string =>
    ids.reduce((rest, id) => rest.replaceAll(id, '<id>'), written).replaceAll(ANY_UUID, '<id>');
  const kept = [...headers].filter(([name]) => name !== 'date').map(([name, value]) => [name, blank(value)]);
  return { status, headers: Object.fromEntries(kept), text: blank(text) };
}
