import { createGraphiQLFetcher, type Fetcher, type FetcherParams } from '@graphiql/toolkit';
import { Kind, parse, type DocumentNode } from 'graphql';
import type { KnownIds } from './known-ids';

/** GraphQL endpoint. Relative to the page's URL, because a proxy may serve page and endpoint under a path prefix. */
const ENDPOINT = new URL('graphql', document.baseURI);
const WEBSOCKET_ENDPOINT = new URL(ENDPOINT);
WEBSOCKET_ENDPOINT.protocol = ENDPOINT.protocol.replace('http', 'ws');

const hasAuthorization = (headers: object): boolean =>
  Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');

/** Returns the parsed document (undefined if invalid) and the name of the operation to execute (undefined if none). */
function readOperation(params: FetcherParams): [DocumentNode | undefined, string | undefined] {
  const operationName = params.operationName ?? undefined;
  try {
    const document = parse(params.query);
    const names = document.definitions.flatMap((one) =>
      one.kind === Kind.OPERATION_DEFINITION ? one.name?.value : [],
    );
    // Prefer the only name in the document: after a tab change, GraphiQL briefly has the previous tab's name.
    return [document, names.length === 1 ? names[0] : operationName];
  } catch {
    return [undefined, operationName];
  }
}

/**
 * Creates GraphiQL's fetcher. It sends queries and mutations over HTTP, and subscriptions over WebSocket.
 * @param credentials key, token or Authorization value for tabs without an Authorization header; '' for no credentials
 */
export function gatewayFetcher(credentials: string, ids: KnownIds): Fetcher {
  const send = createGraphiQLFetcher({
    url: ENDPOINT.href,
    subscriptionUrl: WEBSOCKET_ENDPOINT.href,
    enableIncrementalDelivery: false,
  });
  return async (params, options) => {
    const requestHeaders: object = options?.headers ?? {};
    const authorization = /\s/.test(credentials) ? credentials : `Bearer ${credentials}`;
    const headers = {
      ...requestHeaders,
      ...(credentials && !hasAuthorization(requestHeaders) && { authorization }),
    };
    const [documentAST, operationName] = readOperation(params);
    const variables: unknown = ids.fillIn(params.variables);
    const response = await send({ ...params, operationName, variables }, { headers, documentAST });
    if (operationName && 'data' in response) ids.store(operationName, response.data);
    return response;
  };
}
