import { randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { systemClock, type Clock } from './clock';
import type { Config } from './config';
import type { Journal } from './datasources/journal/journal';
import { openJournal } from './datasources/journal/open';
import { ServiceClient } from './datasources/service/client';
import { SharedLookups, lookupLimit, operationLoader } from './datasources/service/lookups';
import { PaymentService } from './datasources/service/payments';
import { PayoutService } from './datasources/service/payouts';
import { Signer } from './datasources/service/signature';
import { ServiceTransport } from './datasources/service/transport';
import { createApolloServer } from './http/apollo-server';
import { addGraphql, addHealth, createApp, type ContextFactory } from './http/app';
import { requestScope } from './http/request-scope';
import { startOperations, type Operations } from './operations';
import { resolvers } from './resolvers';
import { buildSchema } from './schema/build-schema';

/** A gateway that is listening. */
export interface Gateway {
  /** Without a slash at its end. */
  url: string;
  /** Takes no more work, lets what is under way end, and closes everything. */
  close(): Promise<void>;
  /** Ends the connections that are still open; for when the grace has run out. */
  abandon(): void;
}

function connectService({ service }: Config, clock: Clock, log: Logger) {
  const { baseUrl, apiKey, secretKey, timeoutMs, notFoundStatus } = service;
  const signer = new Signer(apiKey, secretKey);
  const transport = new ServiceTransport({ baseUrl, timeoutMs, signer, now: () => clock.now() });
  const client = new ServiceClient(transport, notFoundStatus, [apiKey, secretKey], (fault) =>
    log.warn(
      { requestId: requestScope.getStore()?.requestId, ...fault },
      'a call to the service did not go well',
    ),
  );
  return { transport, payments: new PaymentService(client), payouts: new PayoutService(client) };
}

/** Callers are not told apart yet: all of them share their keys. */
const ONLY_CLIENT = 'local';

function contextFactory(operations: Operations): ContextFactory {
  const { payments, payouts, attempts } = operations;
  const sharedPayments = new SharedLookups((key) => payments.lookUp(key));
  const sharedPayouts = new SharedLookups((key) => payouts.lookUp(key));
  return (requestId) => {
    const limit = lookupLimit();
    const paymentLookups = operationLoader(sharedPayments, limit);
    const payoutLookups = operationLoader(sharedPayouts, limit);
    const changed = (channel: string): void => {
      sharedPayments.forget(channel);
      sharedPayouts.forget(channel);
      paymentLookups.clearAll();
      payoutLookups.clearAll();
    };
    return {
      requestId,
      client: ONLY_CLIENT,
      payments,
      payouts,
      attempts,
      paymentLookups,
      payoutLookups,
      changed,
    };
  };
}

/** Puts the parts together and listens. */
export async function startGateway(
  config: Config,
  log: Logger,
  clock: Clock = systemClock,
  open: (url: string) => Promise<Journal> = openJournal,
): Promise<Gateway> {
  const journal = await open(config.journal.url.reveal());
  const service = connectService(config, clock, log);
  const operations = startOperations({
    ...service,
    journal,
    clock,
    settings: { ...config.journal, timeoutMs: config.service.timeoutMs },
    // What a sandbox created is gone with it: the next one's transactions are others.
    service: config.sandbox ? `sandbox ${randomUUID()}` : config.service.baseUrl,
    warn: (facts, message) => log.warn(facts, message),
  });
  const stop = async (): Promise<void> => {
    await operations.stop();
    await Promise.all([service.transport.close(), journal.close()]);
  };
  try {
    return await listen({ config, log, journal, operations, stop });
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Parts {
  config: Config;
  log: Logger;
  journal: Journal;
  operations: Operations;
  /** Ends what stands behind the web server. */
  stop(): Promise<void>;
}

async function listen({ config, log, journal, operations, stop }: Parts): Promise<Gateway> {
  const schema = buildSchema([...resolvers]);
  const { introspection, sandbox, host, port } = config;
  const apollo = createApolloServer({ schema, introspection, landingPage: sandbox !== null, log });
  await apollo.start();
  const app = createApp(log);
  let draining = false;
  addHealth(app, async () => !draining && (await isThere(journal)));
  addGraphql(app, apollo, contextFactory(operations));
  await app.listen({ host, port });
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    draining = true;
    await app.close();
    await apollo.stop();
    await stop();
  };
  return {
    url: `http://${addressText(app.server.address(), host)}`,
    close: () => (closed ??= close()),
    abandon: () => app.server.closeAllConnections(),
  };
}

const isThere = (journal: Journal): Promise<boolean> =>
  journal.ping().then(
    () => true,
    () => false,
  );

function addressText(address: AddressInfo | string | null, host: string): string {
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
