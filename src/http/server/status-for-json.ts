import type { ApolloServerPlugin } from '@apollo/server';
import type { OperationContext } from '../../resolvers/context';

/** What is wrong with a document or its variables, as GraphQL over HTTP tells it apart from what is wrong with the request. */
const OF_THE_DOCUMENT: ReadonlySet<unknown> = new Set([
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'BAD_USER_INPUT',
]);

/** Whether a client asks for plain JSON by name. Clients that know the newer type, or do not care, get honest statuses. */
const wantsPlainJson = (accept = ''): boolean =>
  accept.includes('application/json') && !accept.includes('application/graphql-response+json');

/**
 * To clients of the old media type a GraphQL answer is 200 although the document is wrong: they take any other status for
 * a fault of the network (GraphQL over HTTP, 6.4.1).
 */
export const statusForJson: ApolloServerPlugin<OperationContext> = {
  async requestDidStart() {
    return {
      async willSendResponse({ request, response: { body, http } }) {
        const errors = body.kind === 'single' ? (body.singleResult.errors ?? []) : [];
        const isOfDocument =
          errors.length > 0 && errors.every(({ extensions }) => OF_THE_DOCUMENT.has(extensions?.['code']));
        if (http.status === 400 && isOfDocument && wantsPlainJson(request.http?.headers.get('accept')))
          http.status = 200;
      },
    };
  },
};
