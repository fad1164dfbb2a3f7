import { redactFreeText } from '../redaction/text';
import { snakeCase, type WireObject } from '../shared/wire-object';
import { NullableField } from './nullable-field';

/**
 * Type of a field that a response may lack although the service has the value. If it is missing, reading the field
 * starts a lookup and returns a promise of the value in the lookup's response, or of null if the lookup fails. All lazy
 * fields of an object share one lookup.
 */
export type Lazy<T> = T | null | undefined | Promise<T | null | undefined>;

/** Applies a function to a lazy value, after the lookup if there is one. Null if the value is null or undefined. */
export function mapLazy<T, R>(value: Lazy<T>, map: (present: T) => R | null): Lazy<R> {
  if (value instanceof Promise) return value.then((resolved) => mapLazy(resolved, map));
  return value === null || value === undefined ? null : map(value);
}

interface ServiceFieldOptions {
  /** The GraphQL type. Default: String. */
  type?: () => object;
  /** Selects the raw value in `payment_method` or in the response. Default: `payment_method.<name in snake case>`. */
  from?(method: WireObject, response: WireObject): unknown;
  /** Parses the raw value and redacts it if necessary. Default: redacts card numbers and tokens in the text. */
  read?(value: unknown): unknown;
}

interface ServiceFieldSpec {
  name: string;
  wireName: string;
  /** Returns the field's value in a response, parsed by `read`; undefined if the response lacks it. */
  find(method: WireObject, response: WireObject): unknown;
}

/** The fields that ServiceField declares, by the prototype of their class. Fields of superclasses come first. */
const specsByPrototype = new Map<object, readonly ServiceFieldSpec[]>();

/** Declares a nullable GraphQL field whose value is read from a response, by default from its `payment_method`. */
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

/** Returns the fields that ServiceField declares in a class and its superclasses, in source order. */
export function serviceFieldsOf(prototype: object | null): readonly ServiceFieldSpec[] {
  if (prototype === null) return [];
  return (
    specsByPrototype.get(prototype) ?? serviceFieldsOf(Object.getPrototypeOf(prototype) as object | null)
  );
}

/** Returns the value of an object's own field; undefined if the field is a getter, which might start a lookup. */
export function peek(object: object, name: string): unknown {
  const property = Object.getOwnPropertyDescriptor(object, name);
  return property && 'value' in property ? property.value : undefined;
}

/** Returns a lazy value if it is present; null if there is no value, or if only a lookup can provide it. */
export const valueOrNull = <T>(value: Lazy<T>): T | null =>
  value instanceof Promise ? null : (value ?? null);
