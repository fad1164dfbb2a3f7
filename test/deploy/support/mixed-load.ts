import { randomBytes } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { createClient } from 'graphql-sse';
import { CHANNEL, Caller, type CallResult } from '../../support/caller';
import { graphqlWsClient } from '../../subscriptions/support/graphql-ws-client';
import { AUTHORIZED } from '../../support/credentials';

const LOOKUP = `query ($channel: UUID!, $id: UUID!) {
  payment(channel: $channel, transactionId: $id) { ... on PaymentResource { status } }
}`;
const WATCH = `subscription ($channel: UUID!, $id: UUID!) {
  paymentUpdated(channel: $channel, transactionId: $id) { ... on UpiPayment { state } }
}`;

/** Pause of each caller after a call, in ms. */
const PAUSE_MS = 60;
const UNCONFIRMED = 'WAITING_FOR_UTR';

interface Subscription {
  transactionId: string;
  results: AsyncIterator<unknown, unknown>;
}

interface SubscriptionClient {
  iterate(request: { query: string; variables: Record<string, unknown> }): Subscription['results'];
}

/** Calls of every kind to one address, repeated until the load is stopped. No failed call is repeated. */
export class MixedLoad {
  readonly failed: string[] = [];
  readonly #caller: Caller;
  readonly #sse: ReturnType<typeof createClient>;
  readonly #ws: ReturnType<typeof graphqlWsClient>;
  readonly #callers: Promise<void>[] = [];
  readonly #subscriptions: Subscription[] = [];
  #isStopping = false;

  constructor(base: string) {
    this.#caller = new Caller(base);
    this.#sse = createClient({ url: `${base}/graphql/stream`, headers: AUTHORIZED, retryAttempts: 100 });
    // The retry settings of docs/live-updates.md.
    const retries = { retryAttempts: 100, retryWait: undefined, shouldRetry: () => true };
    this.#ws = graphqlWsClient(`${base}/graphql`, retries);
  }

  async start(): Promise<void> {
    const id = await this.#newPayment();
    const calls: Record<string, () => Promise<unknown>> = {
      lookup: async () => expectNoErrors(await this.#caller.request(LOOKUP, { channel: CHANNEL, id })),
      'create and confirm': async () => this.#confirm(await this.#newPayment()),
      'subscribe over SSE': async () => (await this.#subscribe(this.#sse)).results.return?.(),
      'subscribe over WebSocket': async () => (await this.#subscribe(this.#ws)).results.return?.(),
    };
    for (const client of [this.#sse, this.#ws]) this.#subscriptions.push(await this.#subscribe(client));
    for (const [kind, call] of Object.entries(calls)) {
      await call();
      this.#callers.push(this.#repeat(kind, call));
    }
  }

  /** Stops the calls, and expects that the first subscriptions still deliver. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#callers);
    for (const { transactionId, results } of this.#subscriptions) {
      await this.#confirm(transactionId);
      // A resumed subscription first repeats a state that it had delivered before.
      while (JSON.stringify(await nextOf(results)).includes(UNCONFIRMED));
    }
    this.#sse.dispose();
    await this.#ws.dispose();
  }

  async #repeat(kind: string, call: () => Promise<unknown>): Promise<void> {
    while (!this.#isStopping) {
      await call().catch((error: unknown) => this.failed.push(`${kind}: ${String(error)}`));
      await setTimeout(PAUSE_MS);
    }
  }

  /** Creates a payment. The key has no digits, because random digits may look like a card number. */
  async #newPayment(): Promise<string> {
    const key = randomBytes(16).toString('hex').replaceAll(/\d/g, 'x');
    return successful(await this.#caller.create('payment', key, { description: 'Mixed load' }));
  }

  #confirm = async (transactionId: string): Promise<string> =>
    successful(await this.#caller.confirm(transactionId));

  async #subscribe(client: SubscriptionClient): Promise<Subscription> {
    const transactionId = await this.#newPayment();
    const results = client.iterate({ query: WATCH, variables: { channel: CHANNEL, id: transactionId } });
    await nextOf(results);
    return { transactionId, results };
  }
}

function expectNoErrors(result: unknown): void {
  const text = JSON.stringify(result);
  if (text.includes('errors')) throw new Error(text);
}

async function nextOf(results: AsyncIterator<unknown, unknown>): Promise<unknown> {
  const { done, value } = await results.next();
  if (done) throw new Error('the subscription ended');
  expectNoErrors(value);
  return value;
}

/** Returns the transaction id of a successful call. */
function successful({ result, error, message, transactionId }: CallResult): string {
  if (result !== 'PaymentSuccess') throw new Error(`${result ?? error} ${message}`);
  return transactionId!;
}
