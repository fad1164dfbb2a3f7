import { randomUUID } from 'node:crypto';
import type { Sandbox, SandboxOptions } from '../../src/sandbox/server';
import { CHANNEL, testGateway, testSandbox, type TestClient } from '../support/gateway';
import { scriptedService } from '../support/scripted-service';

const CREATE = `mutation ($input: CreatePaymentInput!) {
  createPayment(input: $input) {
    ... on PaymentSuccess { payment { ... on PaymentResource { transactionId redirectUrl } } }
    ... on UserError { message }
  }
}`;
const LOOK_UP = `query ($channel: UUID!, $transactionId: UUID!) {
  payment(channel: $channel, transactionId: $transactionId) {
    ... on PaymentResource { status amount { value received } error { code } }
  }
}`;

interface Created {
  transactionId: string;
  redirectUrl: string;
}

/** A merchant whose shop stands behind a gateway, and to whose page payers come back. */
export class Shop {
  private constructor(
    readonly sandbox: Sandbox,
    private readonly gateway: TestClient,
    /** Where payers come back to. */
    readonly returnUrl: string,
  ) {}

  static async open(options: Partial<SandboxOptions> = {}): Promise<Shop> {
    const sandbox = await testSandbox(options);
    const page = await scriptedService(() => ({
      status: 200,
      body: '<!doctype html><title>Shop</title><link rel="icon" href="data:,"><h1>Thank you</h1>',
      headers: { 'content-type': 'text/html' },
    }));
    return new Shop(
      sandbox,
      await testGateway(sandbox.url, { inSandbox: true }),
      `${page.url}thanks?order=1&from=pay`,
    );
  }

  async sell(changed: object = {}): Promise<Created> {
    const input = {
      idempotencyKey: randomUUID(),
      channel: CHANNEL,
      amount: { currency: 'EUR', value: '10.00' },
      method: { redirect: 'CARD' },
      returnUrl: this.returnUrl,
      ...changed,
    };
    const answer = await this.gateway.ask<{ createPayment: { payment: Created } }>(CREATE, { input });
    if (!answer.data?.createPayment.payment) throw new Error(answer.text);
    return answer.data.createPayment.payment;
  }

  /** What the gateway says of a payment. */
  async look(transactionId: string): Promise<unknown> {
    const answer = await this.gateway.ask<{ payment: unknown }>(LOOK_UP, { channel: CHANNEL, transactionId });
    return answer.data.payment;
  }
}
