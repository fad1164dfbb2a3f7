import type { FastifyInstance } from 'fastify';
import { decodeUtf8, hasDuplicateNames } from '../../shared/json-text';
import { badRequest, RequestError } from '../graphql/http-error';

/** Whether a content type allows UTF-8, the only charset of JSON (RFC 8259, 8.1). */
const isUtf8Type = (type = ''): boolean =>
  !/charset/i.test(type) || !/charset/i.test(type.replace(/;\s*charset=("?)utf-?8\1\s*(?=;|$)/gi, ''));

/** Adds the parser of bodies: JSON in UTF-8 without duplicate names. A byte order mark is ignored (RFC 8259, 8.1). */
export function addJsonBodyParser(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    if (!isUtf8Type(request.headers['content-type'])) return done(NOT_UTF8);
    const text = decodeUtf8(body);
    if (text === undefined) return done(badRequest('The body is not valid UTF-8.'));
    void parse(request, text, (error, value: unknown) => {
      if (!error && hasDuplicateNames(text, value))
        return done(badRequest('The body has a JSON object with a duplicate name.'));
      done(error, value);
    });
  });
}

const NOT_UTF8 = new RequestError(
  415,
  'BAD_REQUEST',
  'The body must be in UTF-8: content-type application/json without another charset.',
);
