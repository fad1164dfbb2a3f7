import { Field, InputType } from 'type-graphql';
import { readUndocumentedFields } from '../../redaction/text';
import { isObject, type WireObject } from '../../shared/wire-object';
import { ServiceField } from '../lazy-field';
import { IsCustomFields } from '../rules';
import { JSONObject } from '../scalars';

/** Declares the input field `fields`: a JSON object, for methods without documented fields. */
export const CustomFieldsField = (): PropertyDecorator => (prototype, propertyKey) => {
  const description =
    'The fields of the method without its field `type`. They are sent unchanged. No value may look like a full card number.';
  Field(() => JSONObject, { description })(prototype, propertyKey);
  IsCustomFields()(prototype, propertyKey);
};

@InputType({ description: 'A method whose fields the service does not document (spec 2.5).' })
export class CustomFieldsInput {
  @CustomFieldsField() fields!: WireObject;
}

export const customFieldsToWire = (input: CustomFieldsInput): WireObject => ({ ...input.fields });

/** Declares an output field with all fields of the response's `payment_method` except `type`, as a JSON object. */
export const OtherFieldsField = (): PropertyDecorator =>
  ServiceField('The fields of payment_method except type; null if there are none.', {
    type: () => JSONObject,
    rawValueOf: ({ type, ...rest }) =>
      type === undefined || Object.keys(rest).length === 0 ? undefined : rest,
    parse: readUndocumentedFields,
  });

/** Declares an output field for `payment_data`, whose structure the specification leaves open (spec 2.5, note 1). */
export const PaymentDataField = (): PropertyDecorator =>
  ServiceField(
    'The field payment_data from the service. A value that is not an object is wrapped in an object as its field "value". Null if not sent.',
    {
      type: () => JSONObject,
      rawValueOf: (methodJson, response) => methodJson['payment_data'] ?? response['payment_data'],
      parse: (rawValue) => (isObject(rawValue) ? rawValue : { value: rawValue }),
    },
  );
