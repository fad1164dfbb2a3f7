import { Field } from 'type-graphql';

/** Declares a field or argument that may be null, by default a String. */
export const NullableField = (description: string, type: () => object = () => String): PropertyDecorator =>
  Field(type, { nullable: true, description });
