import type { FastifyInstance } from 'fastify';
import { decodeUtf8, hasDuplicateNames } from '../../shared/json-text';
import { RequestError } from '../graphql/http-error';

const bodyError = (status: number, message: string): RequestError =>
  new RequestError({ status, code: 'BAD_REQUEST', message });

/** Whether a content type allows UTF-8, the only charset of JSON (RFC 8259, 8.1). */
const isUtf8Type = (type = ''): boolean =>
  !/charset/i.test(type) || !/charset/i.test(type.replace(/;\s*charset=("?)utf-?8\1\s*(?=;|$)/gi, ''));

/** Adds the parser of bodies: JSON in UTF-8 without duplicate names. A byte order mark is ignored (RFC 8259, 8.1). */
export function addJsonBodyParser(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (!isUtf8Type(request.headers['content-type']))
      return done(
        bodyError(415, 'The body must be in UTF-8: content-type application/json without another charset.'),
      );
    const text = decodeUtf8(body);
    if (text === undefined) return done(bodyError(400, 'The body is not valid UTF-8.'));
    void parse(request, text, (error, value: unknown) => {
      if (!error && hasDuplicateNames(text, value))
        return done(bodyError(400, 'The body has a JSON object with a duplicate name.'));
      done(error, value);
    });
  });
}
