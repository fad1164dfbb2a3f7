import type { FastifyInstance } from 'fastify';
import { RequestError } from '../graphql/http-error';

/** The addresses for browsers, and what is at each. */
interface StartPageOptions {
  /** Whether /graphql shows Apollo Sandbox. */
  landingPage: boolean;
}

const page = ({ landingPage }: StartPageOptions): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>paygraph</title>
  </head>
  <body>
    <h1>paygraph</h1>
    <ul>
      <li><a href="explorer">/explorer</a>: a GraphQL IDE with every flow ready to run; it needs no other host.</li>
      <li>${
        landingPage
          ? '<a href="graphql">/graphql</a>: the GraphQL endpoint; in a browser Apollo Sandbox, which is loaded from the internet.'
          : '/graphql: the GraphQL endpoint, for POST.'
      }</li>
    </ul>
  </body>
</html>
`;

/** Adds / where there is an explorer: a page of links for browsers, the same in words for everybody else. */
export function addStartPage(app: FastifyInstance, options: StartPageOptions): void {
  const html = page(options);
  app.get('/', ({ headers }, reply) => {
    if (!/^text\/html\b/.test(headers.accept ?? '')) throw NOT_HERE;
    return reply.type('text/html; charset=utf-8').send(html);
  });
}

const NOT_HERE = new RequestError({
  status: 404,
  code: 'BAD_REQUEST',
  message:
    'There is nothing at this address: the GraphQL endpoint is /graphql, and /explorer is a GraphQL IDE for browsers.',
});
