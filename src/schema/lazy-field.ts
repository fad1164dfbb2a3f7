import { redactFreeText } from '../redaction/text';
import { snakeCase, type WireObject } from '../shared/wire-object';
import { NullableField } from './nullable-field';

/**
 * Type of a payment's field that a partial response of the service may omit. For omitted fields, addLazyFields() in
 * src/datasources adds getters. The first access to any of them starts one lookup for all. Each getter returns a
 * promise of the field's value, which resolves to null if the lookup fails.
 */
export type Lazy<T> = T | null | undefined | Promise<T | null | undefined>;

/** Applies `mapPresent` to a lazy value, after its lookup if it needs one. Null if the value is null or undefined. */
export function mapLazy<T, R>(value: Lazy<T>, mapPresent: (presentValue: T) => R | null): Lazy<R> {
  if (value instanceof Promise) return value.then((resolvedValue) => mapLazy(resolvedValue, mapPresent));
  return value === null || value === undefined ? null : mapPresent(value);
}

interface ServiceFieldOptions {
  /** The GraphQL type. Default: String. */
  type?: () => object;
  /**
   * Returns the raw value from `response`, or from `methodJson`, the `payment_method` of the response. Default: the
   * field of `methodJson` with the name of the GraphQL field in snake case.
   */
  rawValueOf?(methodJson: WireObject, response: WireObject): unknown;
  /** Parses and redacts the raw value. Default: redactFreeText(), which redacts card numbers and tokens. */
  parse?(rawValue: unknown): unknown;
}

interface ServiceFieldSpec {
  fieldName: string;
  wireName: string;
  /**
   * Returns the field's value in a response, parsed by `parse`. Returns undefined if the value is absent or null, or if
   * `parse` returns null.
   */
  findValue(methodJson: WireObject, response: WireObject): unknown;
}

/** Fields declared with @ServiceField, by class prototype. Inherited fields come first. */
const fieldSpecsByPrototype = new Map<object, readonly ServiceFieldSpec[]>();

/** Declares a nullable GraphQL field with a value from the service's response, by default from `payment_method`. */
export function ServiceField(description: string, options: ServiceFieldOptions = {}): PropertyDecorator {
  return (prototype, propertyKey) => {
    const graphqlName = String(propertyKey);
    const wireName = snakeCase(graphqlName);
    const { type, rawValueOf = (methodJson) => methodJson[wireName], parse = redactFreeText } = options;
    const findValue: ServiceFieldSpec['findValue'] = (methodJson, response) => {
      const rawValue = rawValueOf(methodJson, response);
      return rawValue === undefined || rawValue === null ? undefined : (parse(rawValue) ?? undefined);
    };
    fieldSpecsByPrototype.set(prototype, [
      ...serviceFieldSpecsOf(prototype),
      { fieldName: graphqlName, wireName, findValue },
    ]);
    NullableField(description, type)(prototype, propertyKey);
  };
}

/** Returns the fields declared with @ServiceField in a class and its superclasses, in source order. */
export function serviceFieldSpecsOf(prototype: object | null): readonly ServiceFieldSpec[] {
  if (prototype === null) return [];
  return (
    fieldSpecsByPrototype.get(prototype) ??
    serviceFieldSpecsOf(Object.getPrototypeOf(prototype) as object | null)
  );
}

/** Returns a field's value without starting a lookup. Returns undefined if the field is absent or needs a lookup. */
export function valueWithoutLookup(object: object, fieldName: string): unknown {
  const descriptor = Object.getOwnPropertyDescriptor(object, fieldName);
  return descriptor && 'value' in descriptor ? descriptor.value : undefined;
}

/** Returns a lazy value that needs no lookup. Null if it is missing or a promise, even one that has resolved. */
export const presentOrNull = <T>(lazyValue: Lazy<T>): T | null =>
  lazyValue instanceof Promise ? null : (lazyValue ?? null);
