import { readFile } from 'node:fs/promises';
import path from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { overloaded, RequestError } from '../graphql/http-error';
import { EXPLORER_HEADERS } from './security-headers';

interface ExplorerOptions {
  /** Whether the payment service is the embedded sandbox. The page shows whether money moves. */
  isSandbox: boolean;
  /** Whether callers must authenticate. The page then asks for a key or token. */
  requiresCredentials: boolean;
}

/** Folder of the built explorer. The relative path is the same from src and from dist. */
const EXPLORER_FOLDER = path.resolve(__dirname, '../../../dist/explorer');

/** Matches file names that contain a hash of the content, which the build adds. */
const HASHED_FILE_NAME = /-[A-Z0-9]{8}\./;

/** Maximum number of concurrent downloads. Each holds a file descriptor, and downloads need no authentication. */
const MAX_DOWNLOADS = 128;

/** Adds /explorer, a GraphQL IDE for browsers, its assets, and a start page at /. */
export function addExplorer(app: FastifyInstance, { isSandbox, requiresCredentials }: ExplorerOptions): void {
  addStartPage(app, isSandbox);
  app.get('/explorer', async (_request, reply) => {
    const html = await readFile(path.join(EXPLORER_FOLDER, 'index.html'), 'utf8').catch(() => undefined);
    // The explorer has not been built.
    if (html === undefined) return reply.callNotFound();
    return reply
      .headers(EXPLORER_HEADERS)
      .header('cache-control', 'no-cache')
      .type('text/html; charset=utf-8')
      .send(
        html
          .replace('{service}', isSandbox ? 'sandbox' : 'real')
          .replace('{callers}', requiresCredentials ? 'known' : 'anybody'),
      );
  });
  void app.register(async (scope) => {
    let downloads = 0;
    scope.addHook('onRequest', (_request, { raw }, done) => {
      if (downloads >= MAX_DOWNLOADS) throw overloaded();
      downloads += 1;
      raw.once('close', () => (downloads -= 1));
      done();
    });
    await scope.register(fastifyStatic, {
      root: EXPLORER_FOLDER,
      prefix: '/explorer/',
      // Adds one route per file, so that every other path gets 404.
      wildcard: false,
      globIgnore: ['**/*.{html,br,gz}'],
      index: false,
      preCompressed: true,
      cacheControl: false,
      setHeaders: (reply, file) =>
        void reply.header(
          'cache-control',
          HASHED_FILE_NAME.test(file) ? 'public, max-age=31536000, immutable' : 'no-cache',
        ),
    });
  });
}

/** Adds a page of links for browsers at /. Other clients get a 404 with the same information. */
function addStartPage(app: FastifyInstance, hasLandingPage: boolean): void {
  const html = startPage(hasLandingPage);
  app.get('/', ({ headers }, reply) => {
    if (!/^text\/html\b/.test(headers.accept ?? '')) throw NOT_FOUND;
    return reply.type('text/html; charset=utf-8').send(html);
  });
}

const startPage = (hasLandingPage: boolean): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>paygraph</title>
  </head>
  <body>
    <h1>paygraph</h1>
    <ul>
      <li><a href="explorer">/explorer</a>: a GraphQL IDE with example operations for every flow; it loads nothing from the internet.</li>
      <li>${
        hasLandingPage
          ? '<a href="graphql">/graphql</a>: the GraphQL endpoint; in a browser it opens Apollo Sandbox, which is loaded from the internet.'
          : '/graphql: the GraphQL endpoint, for POST.'
      }</li>
    </ul>
  </body>
</html>
`;

const NOT_FOUND = new RequestError({
  status: 404,
  code: 'BAD_REQUEST',
  message: 'Not found. The GraphQL endpoint is /graphql, and /explorer is a GraphQL IDE for browsers.',
});
