import { createGraphiQLFetcher, type Fetcher, type FetcherParams } from '@graphiql/toolkit';
import { Kind, parse, type DocumentNode } from 'graphql';
import type { KnownIds } from './known-ids';

/** The gateway that served the page, wherever a proxy put the two. */
const ENDPOINT = new URL('graphql', document.baseURI);
const SOCKET = new URL(ENDPOINT);
SOCKET.protocol = ENDPOINT.protocol.replace('http', 'ws');

const hasAuthorization = (headers: object): boolean =>
  Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');

/** The document, and which of its operations is asked; the document is undefined where it does not parse. */
function readAsked({ query, operationName }: FetcherParams): [DocumentNode | undefined, string | undefined] {
  try {
    const document = parse(query);
    const names = document.definitions.flatMap((one) =>
      one.kind === Kind.OPERATION_DEFINITION ? one.name?.value : [],
    );
    // For a moment after another tab was chosen GraphiQL still names the operation of the one before.
    return [document, names.length === 1 ? names[0] : (operationName ?? undefined)];
  } catch {
    return [undefined, operationName ?? undefined];
  }
}

/**
 * Asks the gateway: operations over HTTP, subscriptions over its WebSocket, both with the same headers.
 * @param credentials a key or a token; the Authorization header of a tab comes first. Empty: none
 */
export function gatewayFetcher(credentials: string, ids: KnownIds): Fetcher {
  const ask = createGraphiQLFetcher({
    url: ENDPOINT.href,
    subscriptionUrl: SOCKET.href,
    enableIncrementalDelivery: false,
  });
  return async (params, options) => {
    const given: object = options?.headers ?? {};
    const authorization = /\s/.test(credentials) ? credentials : `Bearer ${credentials}`;
    const headers = { ...given, ...(credentials && !hasAuthorization(given) && { authorization }) };
    const [documentAST, operationName] = readAsked(params);
    const variables: unknown = ids.fillIn(params.variables);
    const answer = await ask({ ...params, operationName, variables }, { headers, documentAST });
    if (operationName && 'data' in answer) ids.learn(operationName, answer.data);
    return answer;
  };
}
