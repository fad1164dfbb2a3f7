import { CHANNEL, createInput, type Json, type Kind } from '../../support/caller';
import { AUTHORIZED } from '../../support/credentials';
import { newKey, type Harness } from '../../support/harness';
import { until } from '../../support/latch';
import { post } from '../../support/raw';
import { readAllPages } from './requests';

const CREATE: Record<Kind, string> = {
  payment: 'mutation ($input: CreatePaymentInput!) { createPayment(input: $input) { __typename } }',
  payout: 'mutation ($input: CreatePayoutInput!) { createPayout(input: $input) { __typename } }',
};

const LOOKUP = `query ($channel: UUID!, $id: UUID) {
  payment(channel: $channel, transactionId: $id) { ... on PaymentResource { status } } }`;

/** Time in ms after which a status is looked up again if it has not been recorded. */
const RECORDED_MS = 2000;

/** A transaction that was created through a gateway. */
export class Created {
  /** A cursor before the next change of this transaction. */
  #after: string | undefined;
  #lookups = 0;

  private constructor(
    private readonly harness: Harness,
    readonly transactionId: string,
  ) {}

  static async by(
    harness: Harness,
    kind: Kind,
    credentials: { authorization: string } = AUTHORIZED,
    over: Json = {},
  ): Promise<Created> {
    const key = newKey();
    const variables = { input: createInput(kind, key, over) };
    const { text } = await post(harness.url, JSON.stringify({ query: CREATE[kind], variables }), credentials);
    const [entry] = harness.service.created(key);
    if (!entry || !text.includes('Success')) throw new Error(text);
    return new Created(harness, entry.transactionId);
  }

  /** Number of lookups of this transaction that the service has received, except those of move(). */
  get otherLookups(): number {
    return this.harness.service.lookupsOf(this.transactionId).length - this.#lookups;
  }

  /** Changes the status of a payment at the service, and looks it up through the gateway until it is recorded. */
  async move(status: string): Promise<void> {
    const { harness, transactionId: id } = this;
    harness.service.ledger.byId('payment', id)!.status = status;
    const isRecorded = () => this.#isRecorded(status.toUpperCase());
    await until(async () => {
      this.#lookups += 1;
      await harness.request(LOOKUP, { channel: CHANNEL, id });
      // The gateway does not record a response that seems to be older than the last response.
      return until(isRecorded, Boolean, RECORDED_MS).catch(() => false);
    });
  }

  async #isRecorded(status: string): Promise<boolean> {
    const changes = await readAllPages({ url: this.harness.url, after: this.#after });
    const found = changes.find(
      (change) => change.transactionId === this.transactionId && change.status === status,
    );
    this.#after = (found ?? changes.at(-1))?.cursor ?? this.#after;
    return found !== undefined;
  }
}
