import { ApolloServer, type ApolloServerPlugin } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import type { GraphQLSchema } from 'graphql';
import type { Logger } from 'pino';
import type { OperationContext } from '../../resolvers/context';
import { MAX_TOKENS } from '../limits/document-limits';
import { toPublicError } from './graphql-errors';
import { logOperations, type OperationLog } from './operation-log';
import { landingPagePlugin, type LandingPageOptions } from '../server/landing-page';
import type { FormatError } from '../compiled/compiled-operation-cache';
import { costLimitPlugin } from '../limits/cost-limit-plugin';
import type { RateLimit } from '../limits/rate-limit';
import { requestContext } from '../server/request-context';
import { errorLocation } from './error-location';
import { statusForJson } from '../server/status-for-json';

export interface ApolloOptions extends LandingPageOptions {
  schema: GraphQLSchema;
  introspection: boolean;
  log: Logger;
  operationLog: OperationLog;
  formatError: FormatError;
  rate: RateLimit;
  /** Learns from what Apollo has found valid. */
  learner: ApolloServerPlugin<OperationContext>;
}

/** Makes errors fit for their callers, with the id of the request they belong to. */
export function errorFormatter(log: Logger): FormatError {
  const reportBug = bugReporter(log);
  return (formatted, error) => {
    const publicError = toPublicError(formatted, error, reportBug);
    const requestId = requestContext.getStore()?.requestId;
    return { ...publicError, extensions: { ...publicError.extensions, requestId } };
  };
}

function bugReporter(log: Logger): (cause: unknown) => void {
  return (cause) => {
    log.error(
      { requestId: requestContext.getStore()?.requestId, ...errorLocation(cause) },
      'unexpected error',
    );
  };
}

/** Apollo Server as this gateway runs it. */
export function createApolloServer(options: ApolloOptions) {
  const { schema, introspection, log, formatError } = options;
  return new ApolloServer<OperationContext>({
    schema,
    introspection,
    // A wrong name is not answered with the right ones where nobody is to know them.
    hideSchemaDetailsFromClientErrors: !introspection,
    // Parsing is recursive: a document has to stay far below what exhausts the stack.
    parseOptions: { maxTokens: MAX_TOKENS },
    // Each error is told with its place, which takes time to find.
    validationOptions: { maxErrors: 20 },
    // Off even where NODE_ENV says nothing: a stack trace names files and may hold values.
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    logger: quiet(log),
    formatError,
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      // Whatever APOLLO_KEY may be set for on this machine: nothing of this gateway is reported to anybody.
      ApolloServerPluginUsageReportingDisabled(),
      ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
      landingPagePlugin(options),
      costLimitPlugin(options.rate),
      options.learner,
      statusForJson,
      logOperations(options.operationLog),
    ],
  });
}

/** Apollo's own words go to the log as warnings; its debug lines hold documents and variables, and go nowhere. */
function quiet(log: Logger) {
  const nowhere = (): void => undefined;
  const told = (message?: unknown): void => log.warn({ source: 'apollo' }, String(message).slice(0, 200));
  return { debug: nowhere, info: nowhere, warn: told, error: told };
}
