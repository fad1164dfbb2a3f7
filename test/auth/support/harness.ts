import { clientKeysFile, type TestClientKey } from '../../support/credentials';
import { loggedGateway } from '../../support/gateway';
import type { Reply, ReceivedRequest } from '../../support/payment-service/fake-payment-service';
import { accepted } from '../../support/calls';
import { decodeQuery } from '../../support/signatures';

/** Channels of two merchants, with letters, so that their case can be changed. */
export const OURS = 'aaaaaaaa-1111-4111-8111-aaaaaaaaaaaa';
export const THEIRS = 'bbbbbbbb-2222-4222-8222-bbbbbbbbbbbb';

export const bearer = (credentials: string): { authorization: string } => ({
  authorization: `Bearer ${credentials}`,
});

/** Returns a client key that a search for CANARY finds in any text. */
export const keyOf = (id: string): string => `pgk_CANARY-${id}-0123456789abcdef`;

export const clientOf = (id: string, rights: Pick<TestClientKey, 'scopes' | 'channels'>): TestClientKey => ({
  id,
  key: keyOf(id),
  ...rights,
});

/** Returns the reply of a service that accepts every create and confirm, and finds every transaction. */
function acceptEverything(request: ReceivedRequest): Reply {
  if (request.method === 'POST') return accepted(request);
  const sent = decodeQuery(request.query);
  const id = sent['transaction_id'] ?? '0b7a1c52-6a55-4d0e-9c55-6f1f3e0d2a11';
  return { status: 200, json: { status: 'pending', transaction_id: id } };
}

interface HarnessOptions {
  clients?: TestClientKey[];
  env?: Record<string, string>;
  now?: () => number;
}

/** Starts a gateway whose service accepts everything. `clients` are added to the client with all rights. */
export const startAuthHarness = ({ clients = [], env = {}, now }: HarnessOptions = {}) =>
  loggedGateway(acceptEverything, { CLIENT_KEYS_FILE: clientKeysFile(...clients), ...env }, now);
