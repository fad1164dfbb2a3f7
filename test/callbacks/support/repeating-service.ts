import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { unused, validCall, type Json } from '../../gateway/fixtures/calls';
import { declineOf, echoEverywhere } from '../../gateway/fixtures/echoing-service';
import { spellingsOf } from '../../gateway/fixtures/spellings';
import { closeAfterTests, testGateway, type TestClient } from '../../support/gateway';
import { scriptedService, type Reply, type SeenRequest } from '../../support/scripted-service';
import { HINTED, tokenIn } from './called-back';

/** A payment by upi, and a payout, that nobody has made yet. */
export const newPayment = (): Json => ({ ...validCall('createPayment', 'upi').input, ...unused() });
export const newPayout = (): Json => ({ ...validCall('createPayout', 'imps').input, ...unused() });

/** An answer about the transaction that was asked for, or about this one. */
export const about =
  (json: Json, transactionId: string = randomUUID()) =>
  (request: SeenRequest): Reply => {
    const asked = request.json['id'] ?? new URLSearchParams(request.query).get('transaction_id');
    return { status: 200, json: { ...json, transaction_id: asked ?? transactionId } };
  };

/** That text in every place of an answer that is believed all the same. */
export const echoOf = (type: string, text: string): Json => ({
  ...echoEverywhere({ type, text, paidTo: true }),
  amount: { currency: 'INR', value: '10.00' },
});

/** A decline that says that text. */
export const declineWith = (text: string): Json => ({
  ...declineOf('upi', text),
  amount: { currency: 'INR', value: '10.00' },
});

/** A gateway before a service that repeats what it was told, and a search through all that anybody sees of it. */
export class RepeatingRig {
  readonly logLines: string[] = [];
  /** Where its journal and its audit log are. */
  readonly folder = mkdtempSync(path.join(tmpdir(), 'paygraph-hints-'));
  /** How the service answers: what moves money, and lookups. */
  replyToPost: (request: SeenRequest) => Reply = about({ status: 'processing' });
  replyToGet: (request: SeenRequest) => Reply = () => ({ status: 404, json: {} });
  readonly seen: SeenRequest[] = [];
  client!: TestClient;

  static async start(): Promise<RepeatingRig> {
    const rig = new RepeatingRig();
    closeAfterTests({ close: async () => rmSync(rig.folder, { recursive: true, force: true }) });
    const service = await scriptedService((request) => {
      rig.seen.push(request);
      return request.method === 'POST' ? rig.replyToPost(request) : rig.replyToGet(request);
    });
    rig.client = await testGateway(service.url, {
      logLines: rig.logLines,
      env: {
        ...HINTED,
        DATABASE_URL: `file:${path.join(rig.folder, 'journal.db')}`,
        AUDIT_LOG_FILE: path.join(rig.folder, 'audit.log'),
        PAYOUT_PREFLIGHT: 'off',
        SERVICE_TIMEOUT_MS: '1500',
        RATE_LIMIT_PER_MINUTE: '0',
      },
    });
    return rig;
  }

  /** The addresses that the service was told, in order. */
  get addresses(): string[] {
    const told = this.seen.map(({ json }) => json['callback_url']);
    return told.filter((address) => typeof address === 'string');
  }

  get lastAddress(): string {
    return this.addresses.at(-1) ?? '';
  }

  /** Which spellings of the last tokens stand in a text. Digests may: they open nothing. */
  found(bytes: Buffer | string): string[] {
    const text = Buffer.from(bytes).toString('latin1');
    return this.addresses.slice(-40).flatMap((address) =>
      spellingsOf(tokenIn(address))
        .filter(({ name, standsIn }) => !/^(md5|sha)/.test(name) && standsIn(text))
        .map(({ name }) => name),
    );
  }

  /** Asks, and looks through all that comes back. */
  async ask(query: string, variables: object): Promise<string> {
    const { text, headers } = await this.client.ask(query, variables);
    expect(this.found(JSON.stringify([...headers]) + text)).toEqual([]);
    expect(this.found(this.logLines.splice(0).join(''))).toEqual([]);
    return text;
  }
}
