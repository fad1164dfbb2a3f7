import type { Clock } from '../../../src/shared/clock';
import type { AdvancingClock } from '../../../src/sandbox/clock';
import { sendCall, type MutationResult } from '../../support/calls';
import { clientKeysFile, type TestClientKey } from '../../support/credentials';
import { until } from '../../support/latch';
import { CHANNEL, closeAfterTests, testGateway, type TestClient } from '../../support/gateway';
import { fakeClock } from '../../support/fake-clock';
import { FakePaymentService, type Json } from '../../support/payment-service/fake-payment-service';

export type Kind = 'payment' | 'payout';

export const WAITING = { type: 'upi', state: 'waiting_for_utr', upi_id: 'shop@bank' };
export const AT_PROVIDER = { ...WAITING, state: 'waiting_for_provider' };

const document = (operation: string, kind: Kind, field: string): string =>
  `${operation} Watch($channel: UUID!, $transactionId: UUID!) {
    ${field}(channel: $channel, transactionId: $transactionId) {
      ... on ${kind === 'payment' ? 'PaymentResource' : 'PayoutResource'} { status } } }`;

export const subscription = (transactionId: string, kind: Kind = 'payment', channel: string = CHANNEL) => ({
  query: document('subscription', kind, `${kind}Updated`),
  variables: { channel, transactionId },
});

export const lookupQuery = (kind: Kind = 'payment'): string => document('query', kind, kind);

export const statusResult = (status: string, kind: Kind = 'payment') => ({
  data: { [`${kind}Updated`]: { status } },
});

/** A gateway in front of a fake payment service, both with the same clock. */
export class SubscriptionHarness<C extends Clock = AdvancingClock> {
  constructor(
    readonly client: TestClient,
    readonly service: FakePaymentService,
    readonly clock: C,
    readonly logLines: string[],
  ) {}

  get url(): string {
    return this.client.url;
  }

  /** Adds a UPI payment that waits for its payer. Returns its id. */
  addPayment(fields: Json = {}): string {
    return this.service.add({
      status: 'pending',
      amount: { currency: 'INR', value: '100.00' },
      create_date: new Date(this.service.now()).toISOString(),
      payment_method: WAITING,
      ...fields,
    });
  }

  /** Adds a payout that is being processed. Returns its id. */
  addPayout(fields: Json = {}): string {
    return this.service.add({ status: 'processing', external_id: null, ...fields });
  }

  add(kind: Kind, fields: Json): string {
    return kind === 'payment' ? this.addPayment(fields) : this.addPayout(fields);
  }

  lookups(id: string): number {
    return this.service.lookupsOf(id).length;
  }

  lookUp(transactionId: string, kind: Kind = 'payment') {
    return this.client.request(lookupQuery(kind), { channel: CHANNEL, transactionId });
  }

  change(id: string, fields: Json): Promise<unknown> {
    this.service.update(id, fields);
    return this.lookUp(id, 'create_date' in this.service.fieldsOf(id) ? 'payment' : 'payout');
  }

  /** Confirms a payment, which then has `fields`; the service responds with id, status and `response`. */
  async confirm(
    transactionId: string,
    fields: Json = { status: 'processing', payment_method: AT_PROVIDER },
    response: Json = fields,
  ): Promise<MutationResult | undefined> {
    const { service } = this;
    service.respond(({ method }) => {
      if (method !== 'POST') return undefined;
      service.update(transactionId, fields);
      const { status } = service.fieldsOf(transactionId);
      return { status: 200, json: { transaction_id: transactionId, status, ...response } };
    });
    const input = { channel: CHANNEL, transactionId, confirmation: { upi: { utr: '1234' } } };
    const { result } = await sendCall(this.client, { mutation: 'confirmPayment', input });
    service.respond(() => undefined);
    return result;
  }

  advanceUntil(this: SubscriptionHarness, isSo: () => boolean, stepMs = 1000): Promise<boolean> {
    return until(() => {
      if (isSo()) return true;
      this.clock.advance(stepMs);
      return false;
    });
  }

  lookedUp(this: SubscriptionHarness, id: string, times = 1): Promise<boolean> {
    const count = this.lookups(id) + times;
    return this.advanceUntil(() => this.lookups(id) >= count, 200);
  }

  /** Sends a lookup through the gateway; when it resolves, earlier lookups have arrived at the service. */
  roundTrip(): Promise<unknown> {
    return this.lookUp(this.addPayment());
  }

  /** Expects no lookups of a transaction within an hour of the clock. */
  async expectNotPolled(this: SubscriptionHarness, id: string): Promise<void> {
    await this.roundTrip();
    const before = this.lookups(id);
    for (let minute = 0; minute < 3; minute += 1) {
      this.clock.advance(60_000);
      await this.roundTrip();
    }
    expect(this.lookups(id)).toBe(before);
  }

  subscriptionLines(): Record<string, unknown>[] {
    return this.logLines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ operation }) => operation === 'subscription');
  }

  subscriptionsEnded(count: number): Promise<unknown> {
    return until(() => this.subscriptionLines().length >= count);
  }
}

interface LiveOptions {
  clients?: TestClientKey[];
  env?: Record<string, string>;
  service?: FakePaymentService;
}

/** Long ping interval, because clients cannot answer pings while a test advances the clock by minutes. */
const NO_HEARTBEAT = { SUBSCRIPTION_PING_SECONDS: '3600' };

/** Intervals of polls and pings longer than any test. */
export const NO_POLLING = {
  POLL_INTERVALS_PAYER: '24h',
  POLL_INTERVALS_PROVIDER: '24h',
  POLL_INTERVALS_MISPAID: '24h',
  ...NO_HEARTBEAT,
};

export async function startHarnessOn<C extends Clock>(
  clock: C,
  options: LiveOptions = {},
): Promise<SubscriptionHarness<C>> {
  const logLines: string[] = [];
  const service = options.service ?? closeAfterTests(await FakePaymentService.start(() => clock.now()));
  const env = {
    CLIENT_KEYS_FILE: clientKeysFile(...(options.clients ?? [])),
    SERVICE_TIMEOUT_MS: '20000',
    ...NO_HEARTBEAT,
    ...options.env,
  };
  const client = await testGateway(service.url, { clock, logLines, env });
  return new SubscriptionHarness(client, service, clock, logLines);
}

export const startHarness = (options?: LiveOptions): Promise<SubscriptionHarness> =>
  startHarnessOn(fakeClock(Date.now()), options);
