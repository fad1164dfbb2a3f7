import type { GraphQLScalarType } from 'graphql';
import { Field } from 'type-graphql';
import { redactFreeText } from '../redaction/text';
import { snakeCase, type WireObject } from '../shared/wire-object';

/**
 * A value that an answer may lack although the service knows it: then it is a promise that one shared lookup
 * settles, made only when an operation selects the field.
 */
export type Lazy<T> = T | null | undefined | Promise<T | null | undefined>;

/** Applies a function to a value that may arrive late or not at all. */
export function mapLazy<T, R>(value: Lazy<T>, use: (valueOrNull: T) => R | null): Lazy<R> {
  if (value instanceof Promise) return value.then((known) => mapLazy(known, use));
  return value === null || value === undefined ? null : use(value);
}

interface ServiceFieldOptions {
  /** The GraphQL type; String when absent. */
  type?: () => GraphQLScalarType | object;
  /** Where the value stands, when that is not `payment_method.<field name in snake case>`. */
  from?(method: WireObject, answer: WireObject): unknown;
  /** Reads the value found; as free text, in which card numbers and tokens are hidden, when absent (shown-text.ts). */
  read?(value: unknown): unknown;
}

interface ServiceFieldSpec {
  name: string;
  wireName: string;
  find(method: WireObject, answer: WireObject): unknown;
}

const specsByPrototype = new Map<object, ServiceFieldSpec[]>();

/**
 * A nullable output field that the service fills in `payment_method`. One line says both what callers see and where
 * it stands on the wire.
 */
export function ServiceField(description: string, options: ServiceFieldOptions = {}): PropertyDecorator {
  return (prototype, key) => {
    const name = String(key);
    const wireName = snakeCase(name);
    const { type = () => String, from = (method) => method[wireName], read = redactFreeText } = options;
    const specs = specsByPrototype.get(prototype) ?? [];
    specs.push({
      name,
      wireName,
      find: (method, answer) => {
        const value = from(method, answer);
        return value === undefined || value === null ? undefined : (read(value) ?? undefined);
      },
    });
    specsByPrototype.set(prototype, specs);
    Field(type, { nullable: true, description })(prototype, key);
  };
}

/** The service fields of a class, in the order they are written. */
export function serviceFieldsOf(prototype: object): readonly ServiceFieldSpec[] {
  return specsByPrototype.get(prototype) ?? [];
}

/** The value of a field that is there already; undefined for one that reading would have to look up. */
export function peek(object: object, name: string): unknown {
  const property = Object.getOwnPropertyDescriptor(object, name);
  return property && 'value' in property ? property.value : undefined;
}

/** A value that has arrived; null while it has not. */
export const known = <T>(value: Lazy<T>): T | null => (value instanceof Promise ? null : (value ?? null));
