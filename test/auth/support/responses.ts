import type { GraphqlAnswer } from '../../support/gateway';

type Answer = Pick<GraphqlAnswer<unknown>, 'status' | 'headers' | 'text' | 'errors' | 'data'>;

/** What a caller hears that could not prove who it is, whatever it sent. */
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

/** What a caller hears that may not ask this field; nothing else of the answer is filled. */
export function expectForbidden({ status, headers, errors, data }: Answer, field: string): void {
  expect(status).toBe(200);
  expect(errors).toMatchObject([
    {
      path: [field],
      extensions: { code: 'FORBIDDEN', retryable: false, requestId: headers.get('x-request-id') },
    },
  ]);
  // Of a field that cannot be null the whole answer is.
  expect([null, { [field]: null }]).toContainEqual(data);
}

/** The codes of an answer's errors. */
export const codesOf = ({ errors = [] }: Answer): unknown[] =>
  errors.map(({ extensions }) => extensions['code']);

const ANY_UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** An answer as it went over the wire, but for what is new in every one: the time, every UUID, and those ids. */
export function comparable({ status, headers, text }: Answer, ...ids: string[]): object {
  const blank = (written: string): string =>
    ids.reduce((rest, id) => rest.replaceAll(id, '<id>'), written).replaceAll(ANY_UUID, '<id>');
  const kept = [...headers].filter(([name]) => name !== 'date').map(([name, value]) => [name, blank(value)]);
  return { status, headers: Object.fromEntries(kept), text: blank(text) };
}
