import { randomUUID } from 'node:crypto';
import { DOCUMENTS, validCall, type Json } from '../../gateway/fixtures/calls';
import { decodeQuery } from '../../gateway/fixtures/strict-service';
import { openStore, type Store, type StoreKind } from '../../exactly-once/support/stores';
import { clientKeysFile } from '../../support/credentials';
import { closeAfterTests, testGateway, type TestClient } from '../../support/gateway';
import { scriptedService, type Reply, type ScriptedService } from '../../support/scripted-service';
import { Issuer, newKey, tokenBy, type SigningKey } from './issuer';
import { OURS, bearer, clientOf, keyOf } from './rig';

export type Kind = 'payment' | 'payout';

/** The scopes of a frontend's users. */
export const USER_SCOPES =
  'payments:create payments:read:own payments:confirm:own payouts:create payouts:read:own';

/** Personal data of the first user; no other user may see it. */
export const CANARY = 'canary-user-1@example.com';

/** What a transaction is asked for by. */
export interface Names {
  kind: Kind;
  transactionId: string;
  externalId: string;
  idempotencyKey: string;
}

/** Names that nothing has. */
export const nameless = (kind: Kind): Names => ({
  kind,
  transactionId: randomUUID(),
  externalId: randomUUID(),
  idempotencyKey: randomUUID(),
});

interface Stored extends Json {
  transaction_id: string;
}

/** A service that finds by transaction id, and else the first that was created with the external id. */
function storingService(): Promise<ScriptedService> {
  const stored: (Stored & { external_id: string; path: string })[] = [];
  return scriptedService(({ method, path, query, json }): Reply => {
    const asked = decodeQuery(query);
    if (path.endsWith('/confirm/'))
      return { status: 200, json: { status: 'processing', transaction_id: json['id'] } };
    if (method === 'POST') {
      const external_id = String(json['external_id']);
      const method_ = json['payment_method'] as Json | undefined;
      const answer = {
        status: 'processing',
        transaction_id: randomUUID(),
        channel: json['channel'],
        ...(method_ && {
          amount: json['amount'],
          create_date: new Date().toISOString(),
          payment_method: {
            ...method_,
            state: 'waiting_for_utr',
            upi_link: `upi://${String(method_['email'])}`,
          },
        }),
      };
      stored.push({ ...answer, external_id, path });
      return { status: 201, json: answer };
    }
    const found = stored.find((one) =>
      asked['transaction_id'] === undefined
        ? one.path === path && one.external_id === asked['external_id']
        : one.path === path && one.transaction_id === asked['transaction_id'],
    );
    if (!found) return { status: 404, json: { detail: 'Not found.' } };
    const { path: _path, external_id: _externalId, ...answer } = found;
    return { status: 200, json: answer };
  });
}

type RigParts = Pick<
  OwnershipRig,
  'client' | 'service' | 'store' | 'issuer' | 'key' | 'logLines' | 'keysFile'
>;

/** A gateway whose callers are the users of one identity provider, before a service that all of them share. */
export class OwnershipRig {
  readonly client: TestClient;
  readonly service: ScriptedService;
  readonly store: Store;
  readonly issuer: Issuer;
  readonly key: SigningKey;
  readonly logLines: string[];
  readonly keysFile: string;

  private constructor(parts: RigParts) {
    this.client = parts.client;
    this.service = parts.service;
    this.store = parts.store;
    this.issuer = parts.issuer;
    this.key = parts.key;
    this.logLines = parts.logLines;
    this.keysFile = parts.keysFile;
  }

  static async start(kind: StoreKind): Promise<OwnershipRig> {
    const store = await openStore(kind);
    closeAfterTests({ close: () => store.drop() });
    const key = await newKey('ES256');
    const issuer = await Issuer.start(key);
    const service = await storingService();
    const logLines: string[] = [];
    const keysFile = clientKeysFile(clientOf('shop', { scopes: USER_SCOPES.split(' '), channels: [OURS] }));
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
    return new OwnershipRig({ client, service, store, issuer, key, logLines, keysFile });
  }

  /** What a user of the identity provider sends. */
  async user(sub: string, scope = USER_SCOPES, claims: Json = {}): Promise<{ authorization: string }> {
    return bearer(await tokenBy(this.key, { claims: { sub, scope, channels: [OURS], ...claims } }));
  }

  /** Creates a payment by UPI, or a payout, as that caller. */
  async create(kind: Kind, as: { authorization: string }, given: Json = {}): Promise<Names> {
    const { mutation, input } =
      kind === 'payment' ? validCall('createPayment', 'upi') : validCall('createPayout', 'jazzCash');
    const whole: Json = {
      ...input,
      idempotencyKey: randomUUID(),
      externalId: randomUUID(),
      channel: OURS,
      ...(kind === 'payment' && { method: { upi: { email: CANARY } } }),
      ...given,
    };
    const { data } = await this.client.ask<Record<string, Record<Kind, { transactionId: string }>>>(
      DOCUMENTS[mutation],
      { input: whole },
      as,
    );
    const transactionId = data[mutation]?.[kind].transactionId ?? '';
    return {
      kind,
      transactionId,
      externalId: String(whole['externalId']),
      idempotencyKey: String(whole['idempotencyKey']),
    };
  }

  /** Does something and returns how many calls it made to the service. */
  async callsOf(work: () => Promise<unknown>): Promise<number> {
    const before = this.service.seen.length;
    await work();
    return this.service.seen.length - before;
  }
}

/** The key of the client that has only what it created itself. */
export const SHOP = bearer(keyOf('shop'));
