import type { GraphQLScalarType } from 'graphql';
import { Field } from 'type-graphql';
import { redactFreeText } from '../redaction/text';
import { snakeCase, type WireObject } from '../shared/wire-object';

/**
 * A value that the service may omit from a response although it knows it: then a getter returns a promise, which one
 * shared lookup resolves. The lookup is made only if an operation selects the field.
 */
export type Lazy<T> = T | null | undefined | Promise<T | null | undefined>;

/** Applies a function to a lazy value; null if there is none. */
export function mapLazy<T, R>(value: Lazy<T>, map: (present: T) => R | null): Lazy<R> {
  if (value instanceof Promise) return value.then((resolved) => mapLazy(resolved, map));
  return value === null || value === undefined ? null : map(value);
}

interface ServiceFieldOptions {
  /** The GraphQL type; String when absent. */
  type?: () => GraphQLScalarType | object;
  /** Selects the value; by default `payment_method.<field name in snake case>`. */
  from?(method: WireObject, response: WireObject): unknown;
  /** Parses and redacts the value; by default as free text, with card numbers and tokens redacted. */
  read?(value: unknown): unknown;
}

interface ServiceFieldSpec {
  name: string;
  wireName: string;
  find(method: WireObject, response: WireObject): unknown;
}

const specsByPrototype = new Map<object, ServiceFieldSpec[]>();

/** A nullable GraphQL field that is read from the service's `payment_method`. */
export function ServiceField(description: string, options: ServiceFieldOptions = {}): PropertyDecorator {
  return (prototype, key) => {
    const name = String(key);
    const wireName = snakeCase(name);
    const { type = () => String, from = (method) => method[wireName], read = redactFreeText } = options;
    const specs = specsByPrototype.get(prototype) ?? [];
    specs.push({
      name,
      wireName,
      find: (method, response) => {
        const value = from(method, response);
        return value === undefined || value === null ? undefined : (read(value) ?? undefined);
      },
    });
    specsByPrototype.set(prototype, specs);
    Field(type, { nullable: true, description })(prototype, key);
  };
}

/** The service fields of a class, in source order. */
export function serviceFieldsOf(prototype: object): readonly ServiceFieldSpec[] {
  return specsByPrototype.get(prototype) ?? [];
}

/** The value of a field, without the lookup of a lazy one, which is undefined here. */
export function peek(object: object, name: string): unknown {
  const property = Object.getOwnPropertyDescriptor(object, name);
  return property && 'value' in property ? property.value : undefined;
}

/** The value of a lazy field that is present; otherwise null. */
export const valueOrNull = <T>(value: Lazy<T>): T | null =>
  value instanceof Promise ? null : (value ?? null);
