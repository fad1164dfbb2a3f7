// GraphQL client of a gateway on keep-alive connections.
import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { Pool } from 'undici';
import { CLIENT_KEY } from './client-key.mjs';

export const CHANNEL = '7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10';

const CREATE = `mutation Create($input: CreatePaymentInput!) {
  createPayment(input: $input) {
    __typename
    ... on PaymentSuccess { payment { ... on PaymentResource { transactionId status redirectUrl } } }
    ... on UserError { code message }
  }
}`;

export class Caller {
  #pool;

  constructor(url, connections) {
    this.#pool = new Pool(url, { connections, pipelining: 1 });
  }

  /** Sends an operation and returns its data. Throws if the response has errors. */
  async ask(query, variables) {
    const { body } = await this.#pool.request({
      method: 'POST',
      path: '/graphql',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${CLIENT_KEY}` },
      body: JSON.stringify({ query, variables }),
    });
    const answer = await body.json();
    if (answer.errors) throw new Error(JSON.stringify(answer.errors));
    return answer.data;
  }

  /** Creates a payment under a new key and returns the duration in milliseconds. */
  async create() {
    const input = {
      idempotencyKey: randomUUID(),
      channel: CHANNEL,
      amount: { currency: 'EUR', value: '10.00' },
      externalId: randomUUID(),
      method: { redirect: 'CARD' },
    };
    const startedAt = performance.now();
    const { createPayment } = await this.ask(CREATE, { input });
    const took = performance.now() - startedAt;
    if (createPayment.__typename !== 'PaymentSuccess') throw new Error(JSON.stringify(createPayment));
    return took;
  }

  /**
   * Creates payments for `milliseconds`, `concurrency` at once; returns the rate per second and the number that were
   * rejected because the journal timed out.
   */
  async createMany(concurrency, milliseconds) {
    const startedAt = performance.now();
    let created = 0;
    let refused = 0;
    const loop = async () => {
      while (performance.now() - startedAt < milliseconds) {
        await this.create().then(
          () => (created += 1),
          (error) => {
            if (!error.message.includes('SERVICE_UNAVAILABLE')) throw error;
            refused += 1;
          },
        );
      }
    };
    await Promise.all(Array.from({ length: concurrency }, loop));
    return { rate: created / ((performance.now() - startedAt) / 1000), refused };
  }

  close() {
    return this.#pool.close();
  }
}
