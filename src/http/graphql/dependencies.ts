import type { GraphQLSchema } from 'graphql';
import type { Logger } from 'pino';
import type { Authenticator } from '../../auth/authenticator';
import type { OperationContext, RequestIdentity } from '../../resolvers/context';
import type { BodyQuota } from '../server/body-quota';
import type { Connections } from '../server/connections';
import type { EventLoopLagGuard } from '../server/event-loop-lag';
import type { Admission } from './admission';

/** Dependencies that /graphql, its WebSockets and /graphql/stream share. */
export interface GraphqlDependencies {
  schema: GraphQLSchema;
  authenticator: Authenticator;
  admission: Admission;
  contextFor: (requestIdentity: RequestIdentity) => OperationContext;
  eventLoopLagGuard: EventLoopLagGuard;
  bodyQuota: BodyQuota;
  connections: Connections;
  /** Origins, besides the gateway's own, whose pages may call the gateway. */
  corsOrigins: readonly string[];
  /**
   * Called for each request or WebSocket connection that is not authenticated: its credentials are missing or invalid,
   * or the keys of the token issuer are not available.
   */
  onUnauthenticated(): void;
  log: Logger;
}
