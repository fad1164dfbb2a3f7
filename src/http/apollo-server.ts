import { ApolloServer, type ApolloServerPlugin } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
} from '@apollo/server/plugin/disabled';
import { ApolloServerPluginLandingPageLocalDefault } from '@apollo/server/plugin/landingPage/default';
import type { GraphQLSchema } from 'graphql';
import type { Logger } from 'pino';
import type { OperationContext } from '../resolvers/context';
import { toPublicError } from './graphql-errors';
import { logOperations } from './operation-log';
import { requestScope } from './request-scope';
import { STARTER_DOCUMENT, STARTER_VARIABLES } from './starter-document';

interface ApolloOptions {
  schema: GraphQLSchema;
  introspection: boolean;
  /** Whether a browser that opens /graphql gets Apollo Sandbox. */
  landingPage: boolean;
  log: Logger;
}

/** The largest honest document, every field of every type, has about 500. */
const MAX_TOKENS = 5000;

/** The frames of an error's stack: where it happened, without its message, which may hold anything. */
const framesOf = (error: Error): string[] =>
  (error.stack ?? '')
    .split('\n')
    .filter((line) => line.startsWith('    at '))
    .map((line) => line.trim());

function bugReporter(log: Logger): (cause: unknown) => void {
  return (cause) => {
    const where = cause instanceof Error ? { name: cause.name, frames: framesOf(cause) } : {};
    log.error({ requestId: requestScope.getStore()?.requestId, ...where }, 'unexpected error');
  };
}

const landingPage = (shown: boolean): ApolloServerPlugin<OperationContext> =>
  shown
    ? ApolloServerPluginLandingPageLocalDefault({
        footer: false,
        includeCookies: false,
        document: STARTER_DOCUMENT,
        variables: STARTER_VARIABLES,
        embed: { runTelemetry: false },
      })
    : ApolloServerPluginLandingPageDisabled();

/** Apollo Server as this gateway runs it. */
export function createApolloServer({ schema, introspection, landingPage: shown, log }: ApolloOptions) {
  const reportBug = bugReporter(log);
  return new ApolloServer<OperationContext>({
    schema,
    introspection,
    // Parsing is recursive: a document has to stay far below what exhausts the stack.
    parseOptions: { maxTokens: MAX_TOKENS },
    // Off even where NODE_ENV says nothing: a stack trace names files and may hold values.
    includeStacktraceInErrorResponses: false,
    stopOnTerminationSignals: false,
    logger: quiet(log),
    formatError: (formatted, error) => {
      const publicError = toPublicError(formatted, error, reportBug);
      const requestId = requestScope.getStore()?.requestId;
      return { ...publicError, extensions: { ...publicError.extensions, requestId } };
    },
    plugins: [ApolloServerPluginCacheControlDisabled(), landingPage(shown), logOperations(log)],
  });
}

/** Apollo's own words go to the log as warnings; its debug lines hold documents and variables, and go nowhere. */
function quiet(log: Logger) {
  const nowhere = (): void => undefined;
  const told = (message?: unknown): void => log.warn({ source: 'apollo' }, String(message).slice(0, 200));
  return { debug: nowhere, info: nowhere, warn: told, error: told };
}
