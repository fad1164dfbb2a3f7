import { readFile } from 'node:fs/promises';
import path from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyInstance } from 'fastify';
import { OVERLOADED_ERROR, RequestError } from '../graphql/http-error';
import { EXPLORER_HEADERS } from './security-headers';

/** Folder of the built explorer. The relative path is the same from src and from dist. */
const EXPLORER_FOLDER = path.resolve(__dirname, '../../../dist/explorer');

const HASHED_FILE_NAME_PATTERN = /-[A-Z0-9]{8}\./;

/** Maximum number of concurrent downloads. Each holds a file descriptor, and downloads need no authentication. */
const MAX_CONCURRENT_DOWNLOADS = 128;

interface ExplorerOptions {
  /** Whether the payment service is the embedded sandbox, which moves no real money. The explorer shows this. */
  isSandbox: boolean;
  /** Whether callers must authenticate. The page then asks for a key or token. */
  requiresCredentials: boolean;
}

/** Adds /explorer (a GraphQL IDE for browsers) with its assets, and a page of links at /. */
export function addExplorer(app: FastifyInstance, { isSandbox, requiresCredentials }: ExplorerOptions): void {
  const startPageHtml = renderStartPage(
    isSandbox ? GRAPHQL_ITEM_WITH_LINK_HTML : '/graphql: the GraphQL endpoint (POST).',
  );
  app.get('/', ({ headers }, reply) => {
    if (!/^text\/html\b/.test(headers.accept ?? '')) throw NOT_FOUND_ERROR;
    return reply.type('text/html; charset=utf-8').send(startPageHtml);
  });
  app.get('/explorer', async (_request, reply) => {
    const html = await readFile(path.join(EXPLORER_FOLDER, 'index.html'), 'utf8').catch(() => undefined);
    // Respond with 404 if the explorer has not been built.
    if (html === undefined) return reply.callNotFound();
    const pageHtml = html
      .replace('{service}', isSandbox ? 'sandbox' : 'real')
      .replace('{callers}', requiresCredentials ? 'known' : 'anybody');
    return reply
      .headers(EXPLORER_HEADERS)
      .header('cache-control', 'no-cache')
      .type('text/html; charset=utf-8')
      .send(pageHtml);
  });
  void app.register(addAssets);
}

async function addAssets(scope: FastifyInstance): Promise<void> {
  let downloadCount = 0;
  scope.addHook('onRequest', (_request, { raw }, done) => {
    if (downloadCount >= MAX_CONCURRENT_DOWNLOADS) throw OVERLOADED_ERROR;
    downloadCount += 1;
    raw.once('close', () => (downloadCount -= 1));
    done();
  });
  await scope.register(fastifyStatic, {
    root: EXPLORER_FOLDER,
    prefix: '/explorer/',
    // Add one route per file, so that every other path gets 404.
    wildcard: false,
    globIgnore: ['**/*.{html,br,gz}'],
    index: false,
    preCompressed: true,
    cacheControl: false,
    setHeaders: (reply, filePath) => {
      const hasHashedName = HASHED_FILE_NAME_PATTERN.test(filePath);
      void reply.header('cache-control', hasHashedName ? 'public, max-age=31536000, immutable' : 'no-cache');
    },
  });
}

const GRAPHQL_ITEM_WITH_LINK_HTML =
  '<a href="graphql">/graphql</a>: the GraphQL endpoint; in a browser it opens Apollo Sandbox, which is loaded from the internet.';

const renderStartPage = (graphqlItemHtml: string): string => `<!doctype html>
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
      <li>${graphqlItemHtml}</li>
    </ul>
  </body>
</html>
`;

const NOT_FOUND_ERROR = new RequestError(
  404,
  'BAD_REQUEST',
  'Not found. The GraphQL endpoint is /graphql, and /explorer is a GraphQL IDE for browsers.',
);
