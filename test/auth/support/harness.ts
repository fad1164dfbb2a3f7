import { clientKeysFile, type TestClientKey } from '../../support/credentials';
import { testGateway, type TestClient, testService } from '../../support/gateway';
import {
  type Reply,
  type FakePaymentService,
  type ReceivedRequest,
} from '../../support/payment-service/fake-payment-service';
import { accepted } from '../../support/calls';
import { decodeQuery } from '../../support/signatures';

/** Channels of two merchants, with letters, so that their case can be changed. */
export const OURS = 'aaaaaaaa-1111-4111-8111-aaaaaaaaaaaa';
export const THEIRS = 'bbbbbbbb-2222-4222-8222-bbbbbbbbbbbb';

export const bearer = (credentials: string): { authorization: string } => ({
  authorization: `Bearer ${credentials}`,
});

/** A key that can be recognised in any text. */
export const keyOf = (id: string): string => `pgk_CANARY-${id}-0123456789abcdef`;

export const clientOf = (id: string, rights: Pick<TestClientKey, 'scopes' | 'channels'>): TestClientKey => ({
  id,
  key: keyOf(id),
  ...rights,
});

/** Accepts every create and confirm, and finds every transaction. */
export function obliging(request: ReceivedRequest): Reply {
  if (request.method === 'POST') return accepted(request);
  const asked = decodeQuery(request.query);
  const id = asked['transaction_id'] ?? '0b7a1c52-6a55-4d0e-9c55-6f1f3e0d2a11';
  return { status: 200, json: { status: 'pending', transaction_id: id } };
}

/** A gateway and a service that accepts everything, with the gateway's log. */
export interface Rig {
  client: TestClient;
  service: FakePaymentService;
  logLines: string[];
}

interface RigOptions {
  clients?: TestClientKey[];
  env?: Record<string, string>;
  now?: () => number;
}

/** `clients` are added to the client with all rights. */
export async function accessRig({ clients = [], env = {}, now }: RigOptions = {}): Promise<Rig> {
  const logLines: string[] = [];
  const service = await testService(obliging);
  const client = await testGateway(service.url, {
    logLines,
    now,
    env: { CLIENT_KEYS_FILE: clientKeysFile(...clients), PAYOUT_PREFLIGHT: 'off', ...env },
  });
  return { client, service, logLines };
}

export function clear({ service, logLines }: Rig): void {
  service.requests.length = 0;
  logLines.length = 0;
}
