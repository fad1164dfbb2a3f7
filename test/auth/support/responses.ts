import type { GraphqlResult } from '../../support/gateway';

type ResponseParts = Pick<GraphqlResult<unknown>, 'status' | 'headers' | 'text' | 'errors' | 'data'>;

/** Expects the 401 that every request with missing or invalid credentials gets. */
export function expectUnauthenticated({ status, headers, text, errors, data }: ResponseParts): void {
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
export function expectForbidden(
  { errors, data }: Partial<Pick<ResponseParts, 'errors' | 'data'>>,
  field: string,
): void {
  expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN', retryable: false } }]);
  // A non-null field makes the whole data null. A refused subscription has no data.
  expect([undefined, null, { [field]: null }]).toContainEqual(data);
}

export const codesOf = ({ errors = [] }: Pick<ResponseParts, 'errors'>): unknown[] =>
  errors.map(({ extensions }) => extensions['code']);

const ANY_UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** The cursor of the channel's newest change, which the query `changes` returns to every reader of the channel. */
const END_CURSOR = /(?<="endCursor":")[^"]+/g;

/** Returns a response without the parts that differ between equal requests: date, cursor, UUIDs and `ids`. */
export function comparable({ status, headers, text }: ResponseParts, ...ids: string[]): object {
  const blank = (written: string): string =>
    ids
      .reduce((rest, id) => rest.replaceAll(id, '<id>'), written)
      .replaceAll(ANY_UUID, '<id>')
      .replaceAll(END_CURSOR, '<cursor>');
  const kept = [...headers].filter(([name]) => name !== 'date').map(([name, value]) => [name, blank(value)]);
  return { status, headers: Object.fromEntries(kept), text: blank(text) };
}
