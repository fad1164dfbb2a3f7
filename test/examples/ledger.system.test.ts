import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Ledger } from '../../examples/ledger/ledger';
import { readAllPages } from '../changes/support/requests';
import type { Sandbox } from '../../src/sandbox/server';
import { paymentInput, payoutInput } from '../client-kit/samples';
import { until } from '../support/latch';
import { sendCall, type Mutation } from '../support/calls';
import { CHANNEL, testGateway, testSandbox, type TestClient } from '../support/gateway';
import { newFolder, runWithKey, type Run } from './support';
import { serverOf } from '../support/http-server';

const KILLS = 40;
/** Rounds of two payments and a payout: together, they have more changes than a ledger books before it is killed. */
const ROUNDS_PER_KILL = 4;

type Booked = [transactionId: string, previousStatus: string | null, status: string];

const LOOK_UP = `query ($channel: UUID!, $transactionId: UUID!) {
  payment(channel: $channel, transactionId: $transactionId) { ... on PaymentResource { status } }
  payout(channel: $channel, transactionId: $transactionId) { ... on PayoutResource { status } }
}`;

const folder = newFolder();

const runLedger = (url: string, file: string, ...args: string[]): Run =>
  runWithKey('ledger/main.ts', url, folder, '--channel', CHANNEL, '--file', file, ...args);

const bookedLines = ({ output }: Run): number => output().split(' -> ').length - 1;

/** Reads the books of the example, in the order of booking. */
function booksIn(file: string): { entries: Booked[]; totals: Record<string, number> } {
  using db = new DatabaseSync(file, { readOnly: true, timeout: 5000 });
  const rows = db.prepare('SELECT * FROM entries ORDER BY number').all();
  const totals = db.prepare('SELECT * FROM totals').all();
  return {
    entries: rows.map((row) => [row['transaction_id'], row['previous_status'], row['status']] as Booked),
    totals: Object.fromEntries(
      totals.map((row) => [`${String(row['kind'])} ${String(row['currency'])}`, Number(row['hundredths'])]),
    ),
  };
}

/** Reads the whole feed of a gateway. */
const feedOf = async (url: string): Promise<Booked[]> =>
  (await readAllPages({ url })).map(({ transactionId, previousStatus, status }) => [
    transactionId,
    previousStatus,
    status,
  ]);

/** A gateway whose payments and payouts move to their ends. */
class Traffic {
  /** The final status of each transaction. */
  readonly ended = new Map<string, string>();

  private constructor(
    private readonly sandbox: Sandbox,
    readonly gateway: TestClient,
  ) {}

  static async start(): Promise<Traffic> {
    const sandbox = await testSandbox({ settleAfterMs: 3_600_000 });
    return new Traffic(sandbox, await testGateway(sandbox.url));
  }

  async payment(value: string): Promise<void> {
    const id = await this.#create('createPayment', paymentInput({ amount: { currency: 'EUR', value } }));
    await fetch(`${this.sandbox.url}pay/${id}`);
    await this.#lookUp(id);
    await this.#end(id);
  }

  async payout(): Promise<void> {
    await this.#end(await this.#create('createPayout', payoutInput()));
  }

  async #create(mutation: Mutation, input: object): Promise<string> {
    const { result, text } = await sendCall(this.gateway, { mutation, input: { ...input } });
    const created = result?.payment ?? result?.payout;
    if (!created) throw new Error(text);
    return created.transactionId;
  }

  async #end(transactionId: string): Promise<void> {
    this.ended.set(transactionId, this.sandbox.controlPlane.settle(transactionId).status.toUpperCase());
    await this.#lookUp(transactionId);
  }

  async #lookUp(transactionId: string): Promise<void> {
    await this.gateway.request(LOOK_UP, { channel: CHANNEL, transactionId });
  }
}

/** Whether the feed has the last status of each transaction. It is recorded some time after the last lookup. */
const hasEnded = (feed: Awaited<ReturnType<typeof feedOf>>, { ended }: Traffic): boolean =>
  [...ended].every(([id, end]) => feed.some(([of, , status]) => of === id && status === end));

describe('The ledger example', () => {
  test('books every change exactly once although it is killed at random', async () => {
    const traffic = await Traffic.start();
    const { url } = traffic.gateway;
    const file = path.join(folder, 'killed.db');
    const move = async (): Promise<void> => {
      for (let round = 0; round < ROUNDS_PER_KILL; round += 1)
        await Promise.all([traffic.payment('25.00'), traffic.payment('10.51'), traffic.payout()]);
    };
    let booked = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const moving = move();
      const ledger = runLedger(url, file);
      const lines = Math.floor(Math.random() * 20);
      await until(() => bookedLines(ledger) >= lines);
      await ledger.end('SIGKILL');
      booked += bookedLines(ledger);
      await moving;
    }
    expect(booked).toBeGreaterThan(KILLS);

    const feed = await until(
      () => feedOf(url),
      (all) => hasEnded(all, traffic),
    );
    const ledger = runLedger(url, file);
    await until(() => ledger.output().includes('Booking') && booksIn(file).entries.length >= feed.length);
    await ledger.end('SIGTERM');
    expect(await ledger.exited).toBe(0);
    const { entries, totals } = booksIn(file);
    expect(entries).toEqual(feed);
    expect(new Map(entries.map(([id, , status]) => [id, status]))).toEqual(traffic.ended);
    const completed = entries.filter(([, , status]) => status === 'COMPLETED').length;
    expect(totals).toEqual({ 'payment EUR': (completed / 2) * 2500, 'payout USD': (completed / 2) * 2500 });
  });

  test('books no change twice when two processes use one file, because one of them exits', async () => {
    const traffic = await Traffic.start();
    const { url } = traffic.gateway;
    const file = path.join(folder, 'shared.db');
    const ledgers = [runLedger(url, file), runLedger(url, file)];
    for (const ledger of ledgers) await until(() => ledger.output().includes('Booking'));
    let first: number | null | undefined;
    void Promise.race(ledgers.map(({ exited }) => exited)).then((code) => (first = code));
    await until(async () => {
      await traffic.payment('25.00');
      return first !== undefined;
    });
    expect(first).toBe(1);
    const { entries, feed } = await until(
      async () => ({ entries: booksIn(file).entries, feed: await feedOf(url) }),
      (now) => now.entries.length === now.feed.length && hasEnded(now.feed, traffic),
    );
    expect(entries).toEqual(feed);
  });

  test('books nothing of a change if the cursor of the change cannot be stored', async () => {
    const traffic = await Traffic.start();
    await traffic.payout();
    const { url } = traffic.gateway;
    const feed = await until(
      () => feedOf(url),
      (all) => hasEnded(all, traffic),
    );
    const file = path.join(folder, 'refused.db');
    new Ledger(file, CHANNEL).close();
    using db = new DatabaseSync(file);
    db.exec(`CREATE TRIGGER refuse BEFORE INSERT ON cursors BEGIN SELECT RAISE(ABORT, 'refused'); END`);
    expect(await runLedger(url, file).exited).toBe(1);
    expect(booksIn(file)).toEqual({ entries: [], totals: {} });
    db.exec('DROP TRIGGER refuse');
    const ledger = runLedger(url, file);
    await until(() => booksIn(file).entries.length >= feed.length);
    await ledger.end('SIGTERM');
    expect(booksIn(file).entries).toEqual(feed);
  });

  test('exits with 3 if unread changes were deleted, and requests the changes after the cursor in --after', async () => {
    const cursors: unknown[] = [];
    const extensions = { code: 'CURSOR_EXPIRED', retryable: false, requestId: 'r', oldestCursor: 'oldest' };
    const url = await serverOf(async (request, response) => {
      const body = Buffer.concat(await request.toArray()).toString();
      cursors.push((JSON.parse(body) as { variables: { after: unknown } }).variables.after);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ errors: [{ message: 'm', extensions }] }));
    });
    const file = path.join(folder, 'expired.db');
    const ledger = runLedger(url, file);
    expect(await ledger.exited).toBe(3);
    expect(ledger.output()).toContain('--after oldest');
    expect(await runLedger(url, file, '--after', 'oldest').exited).toBe(3);
    expect(cursors).toEqual([null, 'oldest']);
  });
});
