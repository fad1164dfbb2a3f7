import { createInput, type Json, type Kind } from '../../support/caller';
import { AUTHORIZED } from '../../support/credentials';
import { newKey, type Harness } from '../../support/harness';
import { until } from '../../support/latch';
import { post } from '../../support/raw';
import { readPage } from './requests';

const CREATE: Record<Kind, string> = {
  payment: 'mutation ($input: CreatePaymentInput!) { createPayment(input: $input) { __typename } }',
  payout: 'mutation ($input: CreatePayoutInput!) { createPayout(input: $input) { __typename } }',
};

const LOOKUP: Record<Kind, string> = {
  payment:
    'query ($c: UUID!, $t: UUID) { payment(channel: $c, transactionId: $t) { ... on PaymentResource { status } } }',
  payout:
    'query ($c: UUID!, $t: UUID) { payout(channel: $c, transactionId: $t) { ... on PayoutResource { status } } }',
};

/** Time in ms after which a status is looked up again if it has not been recorded. */
const RECORDED_MS = 2000;

type Credentials = { authorization: string };

/** A transaction that was created through a gateway. */
export class Created {
  /** A cursor before the next change of this transaction. */
  #after: string | undefined;
  #lookups = 0;

  private constructor(
    private readonly harness: Harness,
    readonly kind: Kind,
    readonly transactionId: string,
    readonly channel: string,
  ) {}

  static async by(
    harness: Harness,
    kind: Kind,
    credentials: Credentials = AUTHORIZED,
    over: Json = {},
  ): Promise<Created> {
    const key = newKey();
    const variables = { input: createInput(kind, key, over) };
    const { text } = await post(harness.url, JSON.stringify({ query: CREATE[kind], variables }), credentials);
    const [entry] = harness.service.created(key);
    if (!entry || !text.includes('Success')) throw new Error(text);
    return new Created(harness, kind, entry.transactionId, entry.channel);
  }

  /** Number of lookups of this transaction that the service has received, except those of move(). */
  get otherLookups(): number {
    return this.harness.service.lookupsOf(this.transactionId).length - this.#lookups;
  }

  /** Changes the status at the service, and looks it up through the gateway until it is recorded. */
  async move(status: string): Promise<void> {
    const { harness, kind, transactionId } = this;
    const entry = harness.service.ledger.byId(kind, transactionId);
    if (!entry) throw new Error(`No ${kind} ${transactionId}`);
    entry.status = status;
    const isRecorded = () => this.#isRecorded(status.toUpperCase());
    await until(async () => {
      await this.#lookUp();
      // The gateway does not record a response that seems to be older than the last response.
      return until(isRecorded, Boolean, RECORDED_MS).catch(() => false);
    });
  }

  async #lookUp(): Promise<void> {
    const { harness, kind, transactionId, channel } = this;
    this.#lookups += 1;
    await harness.request(LOOKUP[kind], { c: channel, t: transactionId });
  }

  async #isRecorded(status: string): Promise<boolean> {
    const { url } = this.harness;
    const { page } = await readPage({ url, channel: this.channel, after: this.#after }, 500);
    const found = page?.changes.find(
      (change) => change.transactionId === this.transactionId && change.status === status,
    );
    if (found ?? page?.hasMore) this.#after = found?.cursor ?? page?.endCursor;
    return found !== undefined;
  }
}
