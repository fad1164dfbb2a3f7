import { ApolloServer, type ApolloServerPlugin } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import type { DocumentNode, GraphQLFormattedError, GraphQLSchema } from 'graphql';
import type { Logger } from 'pino';
import type { OperationContext } from '../../resolvers/context';
import { createDocumentCache } from '../limits/document-cache';
import { MAX_DOCUMENT_TOKENS } from '../limits/document-limits';
import { errorNameAndFrames, toPublicError } from './graphql-errors';
import { operationLogPlugin, type LogOperation } from './operation-log';
import { costLimitPlugin } from '../limits/operation-cost';
import type { CallerRateLimiter } from '../limits/caller-rate-limiter';
import { landingPagePlugin, type LandingPageOptions } from '../server/landing-page';
import { requestContext } from '../server/request-context';

/** Formats an error for the caller. `error` is the original error, `formattedError` its standard GraphQL form. */
export type ErrorFormatter = (formattedError: GraphQLFormattedError, error: unknown) => GraphQLFormattedError;

interface ApolloOptions extends LandingPageOptions {
  schema: GraphQLSchema;
  introspection: boolean;
  log: Logger;
  logOperation: LogOperation;
  formatError: ErrorFormatter;
  rateLimiter: CallerRateLimiter;
  /** Plugin that compiles repeated operations (see CompiledOperationCache). */
  compilePlugin: ApolloServerPlugin<OperationContext>;
}

/** Returns a function that formats errors for callers, adds the request id, and logs unexpected errors. */
export const createErrorFormatter =
  (log: Logger): ErrorFormatter =>
  (formattedError, error) => {
    const requestId = requestContext.getStore()?.requestId;
    const publicError = toPublicError(formattedError, error, (bug) =>
      log.error(
        { requestId, ...errorNameAndFrames(bug) },
        'a GraphQL operation failed because of a bug in the gateway; the caller got INTERNAL_SERVER_ERROR',
      ),
    );
    return { ...publicError, extensions: { ...publicError.extensions, requestId } };
  };

/**
 * Creates Apollo's store of parsed and valid documents. Apollo's default store limits the length of the documents as
 * JSON, and takes up to 150 MB.
 */
function createDocumentStore() {
  const documentByKey = createDocumentCache();
  return {
    get: async (key: string) => documentByKey.get(key),
    set: async (key: string, document: DocumentNode) => void documentByKey.set(key, document),
    delete: async (key: string) => documentByKey.delete(key),
  };
}

export function createApolloServer(options: ApolloOptions) {
  const { schema, introspection, log, formatError } = options;
  return new ApolloServer<OperationContext>({
    schema,
    introspection,
    documentStore: createDocumentStore(),
    // Remove suggestions of schema names ("Did you mean …?") from errors if introspection is off.
    hideSchemaDetailsFromClientErrors: !introspection,
    parseOptions: { maxTokens: MAX_DOCUMENT_TOKENS },
    // Limit the number of errors: graphql-js reads the document from its start to locate each error.
    validationOptions: { maxErrors: 20 },
    // Never send stack traces, which may contain secrets. Apollo's default depends on NODE_ENV.
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    logger: apolloLogger(log),
    formatError,
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      // Report nothing to Apollo's cloud services, even if APOLLO_KEY is set.
      ApolloServerPluginUsageReportingDisabled(),
      ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
      landingPagePlugin(options),
      costLimitPlugin(options.rateLimiter),
      options.compilePlugin,
      jsonClientStatusPlugin,
      operationLogPlugin(options.logOperation),
    ],
  });
}

/** Logs Apollo's warnings and errors as warnings. Drops other messages, which may contain documents and variables. */
function apolloLogger(log: Logger) {
  const dropMessage = (): void => undefined;
  const warn = (message?: unknown): void => log.warn({ source: 'apollo' }, String(message).slice(0, 200));
  return { debug: dropMessage, info: dropMessage, warn, error: warn };
}

/** Codes of errors in a document or its variables, as opposed to errors in the HTTP request. */
const DOCUMENT_ERROR_CODE_PATTERN = /^(GRAPHQL_PARSE_FAILED|GRAPHQL_VALIDATION_FAILED|BAD_USER_INPUT)$/;

/**
 * Apollo plugin that changes status 400 to 200 if all errors have codes of DOCUMENT_ERROR_CODE_PATTERN and the client
 * accepts application/json but not application/graphql-response+json. Such clients treat status 400 as a network error
 * (GraphQL over HTTP, 6.4.1).
 */
const jsonClientStatusPlugin: ApolloServerPlugin<OperationContext> = {
  requestDidStart: async () => ({
    async willSendResponse({ request, response: { body, http } }) {
      const accept = request.http?.headers.get('accept') ?? '';
      const acceptsOnlyPlainJson =
        accept.includes('application/json') && !accept.includes('application/graphql-response+json');
      const errors = body.kind === 'single' ? (body.singleResult.errors ?? []) : [];
      const isDocumentError =
        errors.length > 0 &&
        errors.every(({ extensions }) => DOCUMENT_ERROR_CODE_PATTERN.test(String(extensions?.['code'])));
      if (http.status === 400 && isDocumentError && acceptsOnlyPlainJson) http.status = 200;
    },
  }),
};
