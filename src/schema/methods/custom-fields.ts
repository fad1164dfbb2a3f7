import { Field, InputType } from 'type-graphql';
import { CustomFields } from '../rules';
import { JSONObject } from '../scalars';
import { readFreeFields } from '../../redaction/text';
import type { WireObject } from '../../shared/wire-object';

@InputType({ description: 'A method whose fields the service does not document (spec 2.5).' })
export class CustomFieldsInput {
  @Field(() => JSONObject, {
    description:
      'Sent as they are beside type, which they cannot overwrite. No value may look like a full card number.',
  })
  @CustomFields()
  fields!: WireObject;
}

/** The fields of a custom method stand beside type as the caller wrote them. */
export const customFieldsToWire = (input: CustomFieldsInput): WireObject => ({ ...input.fields });

/** Everything in a payment_method but its type. */
export const readRest = {
  from: ({ type, ...rest }: WireObject): unknown =>
    type === undefined || Object.keys(rest).length === 0 ? undefined : rest,
  read: readFreeFields,
};
