import { Field, InterfaceType, registerEnumType } from 'type-graphql';
import { Amount } from './amount';
import { TransactionError } from './decline';
import { AwaitProviderAction, NextAction, RedirectAction } from './next-action';
import { Node } from './node';
import { DEFAULT_POLL_AFTER, type PollAfter } from '../shared/poll-after';
import { HttpUrl, Timestamp, UUID } from './scalars';
import { ServiceField, type Lazy } from './lazy-field';

export enum PaymentStatus {
  PENDING = 'PENDING',
  PROCESSING = 'PROCESSING',
  COMPLETED = 'COMPLETED',
  FAILED = 'FAILED',
  MISPAID = 'MISPAID',
  UNKNOWN = 'UNKNOWN',
}

registerEnumType(PaymentStatus, {
  name: 'PaymentStatus',
  description: 'Where a payment stands (spec 3.1).',
  valuesConfig: {
    PENDING: { description: 'Created; nothing has been paid yet.' },
    PROCESSING: { description: 'Under way: nextAction says whether somebody has to do something.' },
    COMPLETED: { description: 'Paid. Final.' },
    FAILED: { description: 'Declined: see error. Final.' },
    MISPAID: { description: 'More or less than the amount was paid: amount.received says how much.' },
    UNKNOWN: { description: 'A word this gateway does not know: see rawStatus.' },
  },
});

export enum PaymentState {
  WAITING_FOR_UTR = 'WAITING_FOR_UTR',
  WAITING_FOR_CODE = 'WAITING_FOR_CODE',
  WAITING_FOR_CONFIRM = 'WAITING_FOR_CONFIRM',
  WAITING_FOR_PROVIDER = 'WAITING_FOR_PROVIDER',
  UNKNOWN = 'UNKNOWN',
}

registerEnumType(PaymentState, {
  name: 'PaymentState',
  description: 'What a server-to-server payment waits for (spec 3.3).',
  valuesConfig: {
    WAITING_FOR_UTR: { description: 'The payer has to pay and give the UTR: confirm with it.' },
    WAITING_FOR_CODE: { description: 'The payer has to give a code: confirm with it.' },
    WAITING_FOR_CONFIRM: { description: 'The transfer has to be made: then confirm.' },
    WAITING_FOR_PROVIDER: { description: 'Approval is pending at the provider.' },
    UNKNOWN: { description: 'A word this gateway does not know.' },
  },
});

/** A word of the service as the enum value of the same name; UNKNOWN where there is none. */
export function readWord<V extends string>(words: Record<string, V>, unknown: V, raw: string): V {
  let bySmall = wordsBySmall.get(words) as Map<string, V> | undefined;
  if (!bySmall) {
    bySmall = new Map(Object.values(words).map((word) => [word.toLowerCase(), word]));
    wordsBySmall.set(words, bySmall);
  }
  return bySmall.get(raw.toLowerCase()) ?? unknown;
}

/** The words of each list, by themselves in small letters. */
const wordsBySmall = new WeakMap<object, Map<string, string>>();

/** The sub-state of a server-to-server payment; every method that has one uses this field. */
export const StateField = (): PropertyDecorator =>
  ServiceField(
    'What the payment waits for; null in the redirect flow and once nothing is waited for (spec 3.3).',
    {
      type: () => PaymentState,
      read: (raw) => (typeof raw === 'string' ? readWord(PaymentState, PaymentState.UNKNOWN, raw) : null),
    },
  );

const FINISHED: ReadonlySet<PaymentStatus> = new Set([
  PaymentStatus.COMPLETED,
  PaymentStatus.FAILED,
  PaymentStatus.MISPAID,
]);

/** What a payment uses of its method's definition. */
interface PaymentMethodFacts {
  /** The value in the enum PaymentMethod. */
  readonly name: string;
  /** The next action in the states of this method; null: as for any other method. */
  nextAction?(payment: PaymentResource): NextAction | null;
}

@InterfaceType({
  implements: Node,
  description:
    'What every payment has, whatever its method (spec 2.3). Select it once for all: ... on PaymentResource { status }',
})
export abstract class PaymentResource extends Node {
  readonly kind = 'payment';

  /** The definition of its method (schema/methods). */
  readonly definition: PaymentMethodFacts;

  /** `payment_method.type` as the service sent it; the method's own word where it did not. */
  wireType!: string;

  /** Present on a payment made from a short answer: the whole payment by one shared lookup, null where that fails. */
  complete?: () => Promise<PaymentResource | null>;

  /** When a lookup saw the payment so, by the service's clock; undefined where it is not known. */
  serviceTime?: number;

  /** Polling intervals for its next actions. */
  pollAfter: PollAfter = DEFAULT_POLL_AFTER;

  /** The sub-state, in the methods that have one. */
  declare state?: Lazy<PaymentState>;

  constructor(definition: PaymentMethodFacts) {
    super();
    this.definition = definition;
  }

  @Field(() => UUID, { description: 'The id that the service gave the payment.' })
  transactionId!: string;

  @Field(() => UUID, { description: 'The merchant channel on which the payment was made.' })
  channel!: string;

  @Field(() => String, {
    nullable: true,
    description:
      "The identifier from the client's system. The service does not repeat it: null when the payment was looked up by transactionId.",
  })
  externalId?: Lazy<string>;

  /** The word in PaymentMethod; the enum itself is built from the registry. */
  get method(): string {
    return this.definition.name;
  }

  @Field(() => PaymentStatus, { description: 'Where the payment stands; UNKNOWN for a word not known here.' })
  status!: PaymentStatus;

  @Field(() => String, {
    description:
      'The status word as the service sent it; [redacted] where it is no word (docs/redaction.md).',
  })
  rawStatus!: string;

  @Field(() => Amount, { nullable: true, description: 'Null when the service did not say.' })
  amount?: Lazy<Amount>;

  @Field(() => HttpUrl, {
    nullable: true,
    description:
      'The hosted page for the payer; null when there is none, or when it is not an http(s) address.',
  })
  redirectUrl?: Lazy<string>;

  @Field(() => Timestamp, {
    nullable: true,
    description: 'When the payment was created, as the service sent it; null when it did not say.',
  })
  createDate?: Lazy<string>;

  @Field(() => TransactionError, {
    nullable: true,
    description: 'Only for failed payments. A decline is data, never a GraphQL error.',
  })
  error?: Lazy<TransactionError>;

  @Field(() => NextAction, {
    nullable: true,
    description:
      'What the payer or the client has to do next; null when there is nothing to do any more (COMPLETED, FAILED, MISPAID).',
  })
  get nextAction(): Lazy<NextAction> {
    if (FINISHED.has(this.status)) return null;
    if (this.complete && this.state !== PaymentState.WAITING_FOR_PROVIDER) {
      return this.complete().then((whole) => (whole ?? this).actionNow);
    }
    return this.actionNow;
  }

  /** The next action from what is known right now. */
  private get actionNow(): NextAction | null {
    if (FINISHED.has(this.status)) return null;
    const own = this.definition.nextAction?.(this);
    if (own) return own;
    const mayRedirect = !this.state || this.state instanceof Promise;
    const url = mayRedirect && typeof this.redirectUrl === 'string' ? this.redirectUrl : null;
    const { payer, provider } = this.pollAfter;
    return url
      ? Object.assign(new RedirectAction(), { url, pollAfterMs: payer })
      : Object.assign(new AwaitProviderAction(), { pollAfterMs: provider });
  }
}
