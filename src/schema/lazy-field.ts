import { redactFreeText } from '../redaction/text';
import { snakeCase, type WireObject } from '../shared/wire-object';
import { NullableField } from './nullable-field';

/**
 * A value that a response may lack although the service has it. Reading a missing value sends a lookup and returns a
 * promise of the value in the lookup's response. All lazy fields of an object share one lookup.
 */
export type Lazy<T> = T | null | undefined | Promise<T | null | undefined>;

/** Applies a function to a lazy value. The result is null if the value is null or undefined. */
export function mapLazy<T, R>(value: Lazy<T>, map: (present: T) => R | null): Lazy<R> {
  if (value instanceof Promise) return value.then((resolved) => mapLazy(resolved, map));
  return value === null || value === undefined ? null : map(value);
}

interface ServiceFieldOptions {
  /** The GraphQL type. Default: String. */
  type?: () => object;
  /** Selects the raw value in the response. Default: `payment_method.<field name in snake case>`. */
  from?(method: WireObject, response: WireObject): unknown;
  /** Parses the raw value and redacts it if necessary. By default, removes card numbers and tokens from the text. */
  read?(value: unknown): unknown;
}

interface ServiceFieldSpec {
  name: string;
  wireName: string;
  /** Returns the field's value in a response, parsed by `read`; undefined if the response lacks it. */
  find(method: WireObject, response: WireObject): unknown;
}

/** The service fields by the prototype of their class; fields of superclasses come first. */
const specsByPrototype = new Map<object, readonly ServiceFieldSpec[]>();

/** Declares a nullable GraphQL field that is read from the service's `payment_method`. */
export function ServiceField(description: string, options: ServiceFieldOptions = {}): PropertyDecorator {
  return (prototype, key) => {
    const name = String(key);
    const wireName = snakeCase(name);
    const { type, from = (method) => method[wireName], read = redactFreeText } = options;
    const find: ServiceFieldSpec['find'] = (method, response) => {
      const value = from(method, response);
      return value === undefined || value === null ? undefined : (read(value) ?? undefined);
    };
    specsByPrototype.set(prototype, [...serviceFieldsOf(prototype), { name, wireName, find }]);
    NullableField(description, type)(prototype, key);
  };
}

/** Returns the service fields of a class and its superclasses, in source order. */
export function serviceFieldsOf(prototype: object | null): readonly ServiceFieldSpec[] {
  if (prototype === null) return [];
  return (
    specsByPrototype.get(prototype) ?? serviceFieldsOf(Object.getPrototypeOf(prototype) as object | null)
  );
}

/** Returns the value of a field without starting a lookup; undefined if the value needs a lookup. */
export function peek(object: object, name: string): unknown {
  const property = Object.getOwnPropertyDescriptor(object, name);
  return property && 'value' in property ? property.value : undefined;
}

/** Returns a lazy value without a lookup; null if there is no value or the value needs a lookup. */
export const valueOrNull = <T>(value: Lazy<T>): T | null =>
  value instanceof Promise ? null : (value ?? null);
