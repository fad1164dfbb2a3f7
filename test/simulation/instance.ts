import { startOperations } from '../../src/core';
import { CallbackTokens } from '../../src/core/callbacks/callback-tokens';
import { readConfig } from '../../src/config';
import { Credentials } from '../../src/datasources/payment-service/credentials';
import { ServiceClient } from '../../src/datasources/payment-service/client';
import { ServiceTransport } from '../../src/datasources/payment-service/http/transport';
import { PaymentsApi } from '../../src/datasources/payment-service/payments';
import { PayoutsApi } from '../../src/datasources/payment-service/payouts';
import { Secret } from '../../src/shared/secret';
import type { ServiceConnections } from '../../src/datasources/payment-service/http/connections';
import type { Environment } from './environment';
import type { Machine } from './machine';
import { API_KEY, SECRET_KEY } from './service';

const { pollSettings } = readConfig({});

export const SERVICE_NAME = 'simulated';

const none = (): undefined => undefined;
const UNOBSERVED_RECOVERY = {
  onRecoveryResult: none,
  onRecoveryJobRun: none,
  onClockStep: none,
  onOutcomeRecovered: none,
};
const UNOBSERVED_REQUESTS = { onFailure: none, onEnd: none, onRetry: none };
const UNOBSERVED_CHANGES = {
  onPoll: none,
  onRecordedOrDropped: none,
  onFollowLookup: none,
  onChangeDelivered: none,
};

/** Starts the gateway's core and its client of the payment service on a machine, as src/app/gateway.ts does. */
export function startInstance(
  machine: Machine,
  { database, faults }: Environment,
  connections: ServiceConnections,
) {
  const { clock, runtime } = machine;
  const { timeoutMs, settleMs, keepMs, fenceMs } = faults.profile;
  const credentials = new Credentials({
    credentialsFile: null,
    defaultCredentials: { apiKey: new Secret(API_KEY), secretKeys: [new Secret(SECRET_KEY)] },
  });
  const transport = new ServiceTransport({
    baseUrl: 'http://service.example/',
    credentials,
    timeoutMs,
    now: () => clock.now(),
    runtime,
    connections,
  });
  const secrets = () => ({ credentials: credentials.allSecrets, isCallbackToken: undefined });
  const absence = { status: 404, fieldNames: ['code'] };
  const client = new ServiceClient(transport, absence, secrets, UNOBSERVED_REQUESTS);
  const operations = startOperations({
    payments: new PaymentsApi(client),
    payouts: new PayoutsApi(client),
    callbackTokens: new CallbackTokens('callbacks'),
    journal: database.connect(machine),
    notifier: null,
    clock,
    runtime,
    config: {
      service: { timeoutMs },
      journal: { settleMs, keepMs, fenceMs, payoutPreflight: true, fingerprintKey: new Secret('a-secret') },
      urlPolicy: { allowsLoopback: false, allowedHosts: null },
      pollSettings,
      publicUrl: null,
      changeSettings: { followAfterCreateMs: 0, keepMs, lookupsPerSecond: 1 },
    },
    serviceName: SERVICE_NAME,
    warn: none,
    serviceAvailability: { isDown: () => false, hasQueuedLookups: () => false },
    observer: { ...UNOBSERVED_RECOVERY, ...UNOBSERVED_CHANGES },
  });
  return { machine, operations };
}

export type Instance = ReturnType<typeof startInstance>;
