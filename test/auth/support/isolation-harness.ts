import { CompiledOperationCache } from '../../../src/http/compiled/compiled-operation-cache';
import { stablePart } from '../../subscriptions/support/wire-client';
import type { Kind } from '../../support/caller';
import { DOCUMENTS, validCall, type Json } from '../../support/calls';
import { clientKeysFile } from '../../support/credentials';
import { closeAfterTests, testGateway, testService, type TestClient } from '../../support/gateway';
import { Issuer, newKey, tokenBy } from '../../support/issuer';
import { openStore, type StoreKind } from '../../support/stores';
import { codesOf, comparable } from './responses';
import { OURS, THEIRS, bearer, clientOf, keyOf } from './harness';
import {
  CALLS_OF_EXISTING,
  sendRootCall,
  byName,
  isSubscription,
  unusedNames,
  type Names,
  type RootCall,
} from './root-calls';

const USER_SCOPES =
  'payments:create payments:read:own payments:confirm:own payouts:create payouts:read:own'.split(' ');

const CANARY = 'canary-user-1@example.com';

export type Credentials = { authorization: string };

export const as = (id: string): Credentials => bearer(keyOf(id));

const userOf = (id: string) => clientOf(id, { scopes: USER_SCOPES, channels: [OURS] });

const CLIENTS = [
  userOf('user-1'),
  userOf('user-2'),
  clientOf('agent', { scopes: ['payments:read', 'payments:confirm', 'payouts:read'], channels: [OURS] }),
  clientOf('ours', { channels: [OURS] }),
  clientOf('theirs', { channels: [THEIRS] }),
  clientOf('shop', { channels: [OURS] }),
  { ...clientOf('shop', { channels: [OURS, THEIRS] }), key: keyOf('shop-next') },
  clientOf('kiosk', { channels: [OURS] }),
];

/** Starts a gateway for callers with keys and with tokens, and a service with a ledger. */
export async function startIsolation(kind: StoreKind) {
  const store = await openStore(kind);
  closeAfterTests({ close: () => store.drop() });
  const signingKey = await newKey('ES256');
  const issuer = await Issuer.start(signingKey);
  const service = await testService(() => undefined);
  service.ledger.acceptsRepeats = true;
  const logLines: string[] = [];
  const keysFile = clientKeysFile(...CLIENTS);
  const client = await testGateway(service.url, {
    logLines,
    env: {
      DATABASE_URL: store.url,
      CLIENT_KEYS_FILE: keysFile,
      SUBGRAPH: 'on',
      PAYOUT_PREFLIGHT: 'off',
      RATE_LIMIT_PER_MINUTE: '0',
      ...issuer.settings,
    },
  });

  return {
    client,
    service,
    store,
    signingKey,
    logLines,
    keysFile,

    subject: async (sub: string, claims: Json = {}): Promise<Credentials> =>
      bearer(await tokenBy(signingKey, { claims: { sub, channels: [OURS], ...claims } })),

    create: async (of: Kind, caller: Credentials, given: Partial<Names> = {}): Promise<Names> => {
      const { mutation, input } =
        of === 'payment' ? validCall('createPayment', 'upi') : validCall('createPayout', 'jazzCash');
      const { transactionId: _, ...names } = { ...unusedNames(), ...given };
      const { data, text } = await client.request<Record<string, Record<Kind, { transactionId: string }>>>(
        DOCUMENTS[mutation],
        { input: { ...input, ...names } },
        caller,
      );
      const transactionId = data[mutation]?.[of]?.transactionId;
      if (!transactionId) throw new Error(text);
      const { method } = service.ledger.entries.at(-1)!;
      if (method['type'] === 'upi') method['upi_link'] = `upi://${CANARY}`;
      return { ...names, transactionId };
    },

    /** Returns the number of requests to the service that `work` causes. */
    countRequests: async (work: () => Promise<unknown>): Promise<number> => {
      const before = service.requests.length;
      await work();
      return service.requests.length - before;
    },
  };
}

export type IsolationHarness = Awaited<ReturnType<typeof startIsolation>>;

/** `seen` is a response without its date and ids, `codes` are its error codes, `text` is the whole text. */
interface Outcome {
  seen: object;
  codes: unknown[];
  text: string;
}

export async function outcomeOf(client: TestClient, call: RootCall, names: Names, as: Credentials) {
  if (isSubscription(call)) {
    const { data, errors = [] } = await sendRootCall(client, call, names, as);
    const shown = errors.map((error) => stablePart(error as never));
    return { seen: { data, shown }, codes: codesOf({ errors }), text: JSON.stringify([data, shown]) };
  }
  const response = await client.request(call.document, call.variables(names), as);
  const { transactionId, externalId, idempotencyKey } = names;
  return {
    seen: comparable(response, transactionId, externalId, idempotencyKey),
    codes: codesOf(response),
    text: response.text,
  };
}

/** Defines tests of every call. Apollo serves the first of three equal calls, the compiled operation the last. */
export function describeOwnership(store: StoreKind): void {
  describe(`A transaction (${store})`, () => {
    let harness: IsolationHarness;
    let own: Record<Kind, Names>;

    beforeAll(async () => {
      harness = await startIsolation(store);
      own = {
        payment: await harness.create('payment', as('user-1'), { externalId: 'order-1001' }),
        payout: await harness.create('payout', as('user-1'), { externalId: 'payout-1001' }),
      };
    });

    async function askBothPaths(call: RootCall, names: Names, as: Credentials): Promise<Outcome[]> {
      const responded = jest.spyOn(CompiledOperationCache.prototype, 'tryExecute');
      const outcomes = [];
      for (let count = 0; count < 3; count += 1) {
        responded.mockClear();
        outcomes.push(await outcomeOf(harness.client, call, names, as));
      }
      if (!isSubscription(call)) await expect(responded.mock.results.at(-1)?.value).resolves.not.toBeNull();
      return outcomes;
    }

    describe.each(byName(CALLS_OF_EXISTING))('requested by the call "%s"', (_name, call) => {
      test('is shown to its owner, and other callers get the same response as for a missing transaction', async () => {
        harness.logLines.length = 0;
        const [names, unused] = [own[call.kind], unusedNames()];
        let [foreign, missing]: [Outcome[], Outcome[]] = [[], []];
        const calls = await harness.countRequests(async () => {
          foreign = await askBothPaths(call, names, as('user-2'));
          missing = await askBothPaths(call, unused, as('user-2'));
        });
        expect(calls).toBe(0);
        expect(foreign.map(({ seen }) => seen)).toEqual(missing.map(({ seen }) => seen));
        for (const { codes, text } of foreign) {
          expect(codes).toEqual(isSubscription(call) ? ['NOT_FOUND'] : []);
          expect(text).not.toContain(CANARY);
        }
        const logged = harness.logLines.join('');
        for (const id of [names.transactionId, names.externalId, names.idempotencyKey])
          expect(logged).not.toContain(id);

        // Attempts of other callers are never shown, whatever the scopes.
        const readers = call.field.startsWith('attempt') ? ['user-1'] : ['user-1', 'agent'];
        for (const reader of readers)
          for (const { text } of await askBothPaths(call, own[call.kind], as(reader)))
            expect(text).toContain(own[call.kind].transactionId);
      });
    });
  });
}
