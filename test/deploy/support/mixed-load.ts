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

/** The retry settings of docs/live-updates.md. */
const RETRIES = { retryAttempts: 100, retryWait: undefined, shouldRetry: () => true };

type SseClient = ReturnType<typeof createClient>;
type WebSocketClient = ReturnType<typeof graphqlWsClient>;
type Call = () => Promise<unknown>;

interface Subscription {
  transactionId: string;
  results: AsyncIterator<unknown, unknown>;
}

/** Calls of every kind to one address, repeated until the load is stopped. No failed call is repeated. */
export class MixedLoad {
  readonly failed: string[] = [];
  readonly #url: string;
  readonly #caller: Caller;
  readonly #sse: SseClient;
  readonly #ws: WebSocketClient;
  readonly #callers: Promise<void>[] = [];
  readonly #subscriptions: Subscription[] = [];
  #isStopping = false;

  constructor(base: string) {
    this.#url = `${base}/graphql`;
    this.#caller = new Caller(base);
    this.#sse = createClient({ url: `${this.#url}/stream`, headers: AUTHORIZED, retryAttempts: 100 });
    this.#ws = graphqlWsClient(this.#url, RETRIES);
  }

  async start(): Promise<void> {
    const id = await this.#newPayment();
    const variables = { channel: CHANNEL, id };
    for (const client of [this.#sse, this.#ws]) this.#subscriptions.push(await this.#subscribe(client));
    const query = new URLSearchParams({ query: LOOKUP, variables: JSON.stringify(variables) });
    const body = JSON.stringify({ query: LOOKUP, variables });
    const calls: Record<string, Call> = {
      'lookup by POST': () => this.#lookup(this.#url, { method: 'POST', body }),
      'lookup by GET': () => this.#lookup(`${this.#url}?${query}`),
      create: async () => expectSuccess(await this.#create()),
      'create and confirm': async () => expectSuccess(await this.#caller.confirm(await this.#newPayment())),
      'subscribe over SSE': async () => (await this.#subscribe(this.#sse)).results.return?.(),
      'subscribe over WebSocket': async () => (await this.#subscribe(this.#ws)).results.return?.(),
    };
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
      expectSuccess(await this.#caller.confirm(transactionId));
      // A resumed subscription first repeats a state that it had delivered before.
      let text = UNCONFIRMED;
      while (text.includes(UNCONFIRMED)) text = JSON.stringify(await nextOf(results));
    }
    this.#sse.dispose();
    await this.#ws.dispose();
  }

  async #repeat(kind: string, call: Call): Promise<void> {
    while (!this.#isStopping) {
      await call().catch((error: unknown) => this.failed.push(`${kind}: ${String(error)}`));
      await setTimeout(PAUSE_MS);
    }
  }

  /** Creates a payment. The key has no digits, because random digits may look like a card number. */
  readonly #create = (): Promise<CallResult> => {
    const key = randomBytes(16).toString('hex').replaceAll(/\d/g, 'x');
    return this.#caller.create('payment', key, { description: 'Mixed load' });
  };

  async #newPayment(): Promise<string> {
    const created = await this.#create();
    expectSuccess(created);
    return created.transactionId ?? '';
  }

  async #lookup(url: string, init: RequestInit = {}): Promise<void> {
    const headers = { 'content-type': 'application/json', ...AUTHORIZED };
    const response = await fetch(url, { ...init, headers });
    const text = await response.text();
    if (response.status !== 200 || text.includes('errors')) throw new Error(`${response.status} ${text}`);
  }

  async #subscribe(client: SseClient | WebSocketClient): Promise<Subscription> {
    const transactionId = await this.#newPayment();
    const results = client.iterate({ query: WATCH, variables: { channel: CHANNEL, id: transactionId } });
    await nextOf(results);
    return { transactionId, results };
  }
}

const UNCONFIRMED = 'WAITING_FOR_UTR';

async function nextOf(results: AsyncIterator<unknown, unknown>): Promise<unknown> {
  const { done, value } = await results.next();
  if (done) throw new Error('the subscription ended');
  if (JSON.stringify(value).includes('errors')) throw new Error(JSON.stringify(value));
  return value;
}

function expectSuccess({ result, error, message }: CallResult): void {
  if (result !== 'PaymentSuccess') throw new Error(`${result ?? error} ${message}`);
}
