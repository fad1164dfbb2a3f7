import { Field, InterfaceType, registerEnumType } from 'type-graphql';
import { Amount } from './amount';
import { TransactionError } from './decline';
import { Node } from './node';
import { UUID } from './scalars';

export enum PayoutStatus {
  PENDING = 'PENDING',
  PROCESSING = 'PROCESSING',
  COMPLETED = 'COMPLETED',
  FAILED = 'FAILED',
  UNKNOWN = 'UNKNOWN',
}

registerEnumType(PayoutStatus, {
  name: 'PayoutStatus',
  description: 'Where a payout stands (spec 3.2).',
  valuesConfig: {
    PENDING: { description: 'Created.' },
    PROCESSING: { description: 'Created and awaiting confirmation.' },
    COMPLETED: { description: 'The funds were transferred. Final.' },
    FAILED: { description: 'It could not be completed: see error. Final.' },
    UNKNOWN: { description: 'A word this gateway does not know: see rawStatus.' },
  },
});

/** What a payout uses of its method's definition. */
interface PayoutMethodFacts {
  /** The value in the enum PayoutMethod. */
  readonly name: string;
}

@InterfaceType({
  implements: Node,
  description:
    'What every payout has, whatever its method (spec 2.6). Select it once for all: ... on PayoutResource { status }',
})
export abstract class PayoutResource extends Node {
  readonly kind = 'payout';

  /** The definition of its method (schema/methods). */
  readonly definition: PayoutMethodFacts;

  /** The method's wire word, from the service or from the create call; null when neither said it. */
  wireType!: string | null;

  /** Whether more is known of it, which could not be asked for now. */
  isPartial?: boolean;

  constructor(definition: PayoutMethodFacts) {
    super();
    this.definition = definition;
  }

  @Field(() => UUID, { description: 'The id that the service gave the payout.' })
  transactionId!: string;

  @Field(() => UUID, { description: 'The merchant channel on which the payout was made.' })
  channel!: string;

  @Field(() => String, {
    nullable: true,
    description:
      "The identifier from the client's system; null when the service did not repeat it and the payout was looked up by transactionId.",
  })
  externalId?: string | null;

  /** The word in PayoutMethod; the enum itself is built from the registry. */
  get method(): string {
    return this.definition.name;
  }

  @Field(() => PayoutStatus, { description: 'Where the payout stands; UNKNOWN for a word not known here.' })
  status!: PayoutStatus;

  @Field(() => String, {
    description:
      'The status word as the service sent it; [redacted] where it is no word (docs/redaction.md).',
  })
  rawStatus!: string;

  @Field(() => Amount, {
    nullable: true,
    description: 'From the create call; null for a payout this gateway did not create.',
  })
  amount?: Amount | null;

  @Field(() => TransactionError, { nullable: true, description: 'Only for failed payouts.' })
  error?: TransactionError | null;
}
