import { Field } from 'type-graphql';

/** Declares a nullable GraphQL field or argument, by default of the type String. */
export const NullableField = (description: string, type: () => object = () => String): PropertyDecorator =>
  Field(type, { nullable: true, description });
