import { Field, InterfaceType } from 'type-graphql';
import { Amount } from './amount';
import { TransactionError } from './decline';
import { Node } from './node';
import { NullableField } from './nullable-field';
import { registerEnum, type ValueOf } from './register-enum';
import { UUID } from './scalars';

export const PayoutStatus = registerEnum('PayoutStatus', 'The status of a payout (spec 3.2).', {
  PENDING: 'Created.',
  PROCESSING: 'Created, and waiting for a confirmation. The caller has nothing to do.',
  COMPLETED: 'The funds were transferred. Final.',
  FAILED: 'The payout could not be completed: see error. Final.',
  UNKNOWN: 'A status unknown to this gateway: see rawStatus.',
});
export type PayoutStatus = ValueOf<typeof PayoutStatus>;

@InterfaceType({
  implements: Node,
  description:
    'The fields of all payouts (spec 2.6). One selection covers every method: ... on PayoutResource { status }',
})
export abstract class PayoutResource extends Node {
  readonly kind = 'payout';

  /**
   * Method type from the service's response, redacted. If the response has none, the type in the create call; null if
   * that is unknown too.
   */
  wireType!: string | null;

  /** True if details of the create call, such as the amount, may be missing, because they are not from the journal. */
  mayLackCreateDetails?: boolean;

  /** @param definition definition of the payout's method, from schema/methods */
  constructor(readonly definition: { readonly name: string }) {
    super();
  }

  @Field(() => UUID, { description: 'The id of the payout at the service.' }) transactionId!: string;
  @Field(() => UUID, { description: 'The merchant channel of the payout.' }) channel!: string;

  @NullableField(
    "The identifier in the client's system. Null after a lookup by transactionId if neither the service nor the gateway's journal has it.",
  )
  externalId?: string | null;

  /** Value of the enum PayoutMethod. Declared as a GraphQL field in methods/method-types.ts, beside the enum. */
  get method(): string {
    return this.definition.name;
  }

  @Field(() => PayoutStatus, { description: 'The status; UNKNOWN if it is unknown to this gateway.' })
  status!: PayoutStatus;

  @Field(() => String, {
    description: 'The status as the service sent it; [redacted] if it is not a word (docs/redaction.md).',
  })
  rawStatus!: string;

  @NullableField('The amount of the create call; null unless this gateway created the payout.', () => Amount)
  amount?: Amount | null;

  @NullableField(
    'Why the payout failed; null unless its status is FAILED. A failure is not in the errors of the response.',
    () => TransactionError,
  )
  error?: TransactionError | null;
}
