import { ROOT_CONTEXT, defaultTextMapGetter, type Attributes, type Span } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { fail, type Spans } from './spans';

/** The result of an operation; of what the caller wrote it contains the name only. */
export interface EndedOperation {
  /** Undefined where no operation of the document was selected. */
  type: string | undefined;
  /** Fit for logs; undefined where there is none. */
  name: string | undefined;
  /** The codes of its errors. */
  codes: readonly unknown[];
}

/** Distinct operation names in span names; further ones are named by their type. */
const MAX_NAMES = 200;
const UNNAMED = 'GraphQL Operation';
const MAX_CODES = 8;

/** Errors of the gateway and of the systems behind it; other codes are errors of the caller. */
const isServerError = (code: string): boolean => /^(SERVICE_|INTERNAL_)/.test(code);

/** Spans of GraphQL operations. */
export class RequestSpans {
  readonly #spans: Spans;
  readonly #names = new Set<string>();
  readonly #open = new WeakMap<FastifyRequest, Span>();
  readonly #annotated = new WeakSet<Span>();
  readonly #propagator = new W3CTraceContextPropagator();

  constructor(spans: Spans) {
    this.#spans = spans;
  }

  /** Adds a span for each authenticated operation, below the traceparent of its caller. Call it before routes are added. */
  instrument(app: FastifyInstance): void {
    app.addHook('preHandler', (request, _reply, done) => {
      const { caller, headers, method, routeOptions } = request;
      if (!caller) return done();
      const parent = this.#propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
      // Other routes are subscriptions, whose span does not last until the response ends.
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
        if (statusCode >= 500 && !this.#annotated.has(span)) fail(span, String(statusCode));
        span.end();
      }
      done();
    });
  }

  /** Begins the span of a subscription. It ends with the first result, because spans are exported when they end. */
  subscription() {
    const span = this.#spans.beginHere('subscription');
    return {
      within: <T>(work: () => T): T => this.#spans.within(span, work),
      settled: (name: string | undefined, codes: readonly unknown[]): void => {
        if (!span.isRecording()) return;
        this.#annotate(span, { type: 'subscription', name, codes });
        span.end();
      },
    };
  }

  /** Adds the operation and its result to the active span. */
  ended(operation: EndedOperation): void {
    const span = this.#spans.current;
    if (span?.isRecording()) this.#annotate(span, operation);
  }

  #annotate(span: Span, { type, name, codes }: EndedOperation): void {
    this.#annotated.add(span);
    const attributes: Attributes = {};
    if (type !== undefined) {
      span.updateName(this.#nameOf(type, name));
      attributes['graphql.operation.type'] = type;
    }
    if (name !== undefined) attributes['graphql.operation.name'] = name;
    const words = [...new Set(codes.filter((code) => typeof code === 'string'))].slice(0, MAX_CODES);
    if (words.length > 0) attributes['paygraph.error.codes'] = words;
    span.setAttributes(attributes);
    const error = words.find(isServerError);
    if (error !== undefined) fail(span, error);
  }

  #nameOf(type: string, name: string | undefined): string {
    if (name === undefined) return type;
    const whole = `${type} ${name}`;
    if (this.#names.size < MAX_NAMES) this.#names.add(whole);
    return this.#names.has(whole) ? whole : type;
  }
}
