import { randomUUID } from 'node:crypto';
import type { Sandbox, SandboxOptions } from '../../src/sandbox/server';
import { CHANNEL, testGateway, testSandbox, testService, type TestClient } from '../support/gateway';

const CREATE = `mutation ($input: CreatePaymentInput!) {
  createPayment(input: $input) {
    ... on PaymentSuccess { payment { ... on PaymentResource { transactionId redirectUrl } } }
    ... on RejectedByServiceError { httpStatus }
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

/** A merchant with a sandbox, a gateway, and a page to which payers return. */
export class Shop {
  private constructor(
    readonly sandbox: Sandbox,
    readonly gateway: TestClient,
    readonly returnUrl: string,
  ) {}

  static async open(options: Partial<SandboxOptions> = {}, env: Record<string, string> = {}): Promise<Shop> {
    const sandbox = await testSandbox(options);
    const page = await testService(() => ({
      status: 200,
      body: '<!doctype html><title>Shop</title><link rel="icon" href="data:,"><h1>Thank you</h1>',
      headers: { 'content-type': 'text/html' },
    }));
    const gateway = await testGateway(sandbox.url, { inSandbox: true, env });
    return new Shop(sandbox, gateway, `${page.url}thanks?order=1&from=pay`);
  }

  /** Creates a payment. Throws the response if the service refuses the payment. */
  async sell(over: object = {}, gateway = this.gateway): Promise<Created> {
    const input = {
      idempotencyKey: randomUUID(),
      channel: CHANNEL,
      amount: { currency: 'EUR', value: '10.00' },
      method: { redirect: 'CARD' },
      returnUrl: this.returnUrl,
      ...over,
    };
    const { data, text } = await gateway.request<{ createPayment: { payment?: Created } } | null>(CREATE, {
      input,
    });
    if (!data?.createPayment.payment) throw new Error(text);
    return data.createPayment.payment;
  }

  async lookUp(transactionId: string): Promise<unknown> {
    const ids = { channel: CHANNEL, transactionId };
    const { data } = await this.gateway.request<{ payment: unknown }>(LOOK_UP, ids);
    return data.payment;
  }
}
