import { ROOT_CONTEXT, defaultTextMapGetter, type Attributes, type Span } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { fail, type Spans } from './spans';

/** An operation that has ended, without anything that its caller wrote but its name. */
export interface EndedOperation {
  /** Undefined where it is not known which operation was meant. */
  type: string | undefined;
  /** Fit to be shown; undefined where there is none. */
  name: string | undefined;
  /** Of its errors. */
  codes: readonly unknown[];
}

/** So many names of operations are told apart in the names of spans; others have their type alone. */
const MAX_NAMES = 200;
/** What an operation is called while, or where, it is not known which was meant. */
const UNNAMED = 'GraphQL Operation';
const MAX_CODES = 8;

/** Faults of the gateway and of what is behind it: others are answers to what callers got wrong. */
const isFault = (code: string): boolean => /^(SERVICE_|INTERNAL_)/.test(code);

/** Spans of operations that come by HTTP, and what spans say of any operation. */
export class RequestSpans {
  readonly #spans: Spans;
  readonly #names = new Set<string>();
  readonly #open = new WeakMap<FastifyRequest, Span>();
  readonly #told = new WeakSet<Span>();
  readonly #propagator = new W3CTraceContextPropagator();

  constructor(spans: Spans) {
    this.#spans = spans;
  }

  /**
   * Begins a span for each operation that an app is asked for by somebody who may ask: below the caller's own, where a
   * traceparent names it. To be called before routes are added.
   */
  follow(app: FastifyInstance): void {
    app.addHook('preHandler', (request, _reply, done) => {
      const { caller, headers, method, routeOptions } = request;
      if (!caller) return done();
      const parent = this.#propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
      // A stream is a subscription, which has a span that does not wait for its end.
      if (routeOptions.url !== '/graphql') return this.#spans.inside(parent, done);
      const attributes = { 'http.request.method': method, 'http.route': routeOptions.url };
      const span = this.#spans.begin(UNNAMED, { attributes }, parent);
      this.#open.set(request, span);
      this.#spans.within(span, done);
    });
    app.addHook('onSend', (request, { statusCode }, _payload, done) => {
      const span = this.#open.get(request);
      if (span) {
        this.#open.delete(request);
        span.setAttribute('http.response.status_code', statusCode);
        if (statusCode >= 500 && !this.#told.has(span)) fail(span, String(statusCode));
        span.end();
      }
      done();
    });
  }

  /** Tells the span that is open here what has been asked, and how it ended. */
  ended(operation: EndedOperation): void {
    const span = this.#spans.current;
    if (span?.isRecording()) this.tell(span, operation);
  }

  /** Tells a span what has been asked, and how it ended. */
  tell(span: Span, { type, name, codes }: EndedOperation): void {
    this.#told.add(span);
    const attributes: Attributes = {};
    if (type !== undefined) {
      span.updateName(this.#nameOf(type, name));
      attributes['graphql.operation.type'] = type;
    }
    if (name !== undefined) attributes['graphql.operation.name'] = name;
    const words = [...new Set(codes.filter((code) => typeof code === 'string'))].slice(0, MAX_CODES);
    if (words.length > 0) attributes['paygraph.error.codes'] = words;
    span.setAttributes(attributes);
    const fault = words.find(isFault);
    if (fault !== undefined) fail(span, fault);
  }

  #nameOf(type: string, name: string | undefined): string {
    if (name === undefined) return type;
    const whole = `${type} ${name}`;
    if (this.#names.size < MAX_NAMES) this.#names.add(whole);
    return this.#names.has(whole) ? whole : type;
  }
}
