import { ROOT_CONTEXT, defaultTextMapGetter, type Attributes, type Span } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { createLabelLimiter, OTHER_LABEL } from '../metrics/register';
import { markFailed, type SpanTracker } from './spans';

/** An operation that has ended. Contains nothing that the caller wrote, except the name of the operation. */
interface EndedOperation {
  /** Type of the operation; undefined if no operation was selected, for example because the document is invalid. */
  type: string | undefined;
  /** The name of the operation; undefined if it has no name or the name must not be logged. */
  name: string | undefined;
  /** `extensions.code` of each error in the result. */
  errorCodes: readonly unknown[];
}

/**
 * Maximum number of distinct span names that contain an operation name. The spans of operations with further names are
 * named by the operation type only.
 */
const MAX_OPERATION_SPAN_NAMES = 200;
const MAX_SPAN_ERROR_CODES = 8;
/** Matches codes of errors that the caller did not cause: the gateway, the payment service or the journal failed. */
const SERVER_ERROR_CODE_PATTERN = /^(SERVICE_|INTERNAL_)/;

/** Creates the spans of GraphQL operations. */
export class RequestTracer {
  readonly #spanNameOf = createLabelLimiter(MAX_OPERATION_SPAN_NAMES);
  readonly #openSpanByRequest = new WeakMap<FastifyRequest, Span>();
  readonly #spansWithOperation = new WeakSet<Span>();
  readonly #propagator = new W3CTraceContextPropagator();

  constructor(private readonly tracker: SpanTracker) {}

  /**
   * Makes `app` create a span for each authenticated request to /graphql whose body could be parsed. If the request has
   * a valid header traceparent, the span is a child of the span in the header. Call this before the routes are added.
   */
  instrument(app: FastifyInstance): void {
    app.addHook('preHandler', (request, _reply, done) => {
      const { caller, headers, method, routeOptions } = request;
      if (!caller) return done();
      const parentContext = this.#propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
      // Other routes get no span, only the parent context. Subscriptions get a span from startSubscriptionSpan().
      if (routeOptions.url !== '/graphql') return this.tracker.withContext(parentContext, done);
      const attributes = { 'http.request.method': method, 'http.route': routeOptions.url };
      const span = this.tracker.startSpan('GraphQL Operation', { attributes }, parentContext);
      this.#openSpanByRequest.set(request, span);
      this.tracker.withActiveSpan(span, done);
    });
    app.addHook('onSend', (request, { statusCode }, _payload, done) => {
      const span = this.#openSpanByRequest.get(request);
      if (span) {
        this.#openSpanByRequest.delete(request);
        span.setAttribute('http.response.status_code', statusCode);
        if (statusCode >= 500 && !this.#spansWithOperation.has(span)) markFailed(span, String(statusCode));
        span.end();
      }
      done();
    });
  }

  /**
   * Starts the span of a subscription. Call `end` at the first result or error: only ended spans are exported, and a
   * subscription may last for hours. Further calls of `end` have no effect.
   */
  startSubscriptionSpan() {
    const span = this.tracker.startSpan('subscription', {}, this.tracker.activeContext);
    return {
      runInSpan: <T>(work: () => T): T => this.tracker.withActiveSpan(span, work),
      end: (operationName: string | undefined, errorCodes: readonly unknown[]): void => {
        if (!span.isRecording()) return;
        this.#addOperation(span, { type: 'subscription', name: operationName, errorCodes });
        span.end();
      },
    };
  }

  /**
   * Adds type, name and error codes of an operation to the active span. If a code matches SERVER_ERROR_CODE_PATTERN,
   * marks the span as failed.
   */
  onOperationEnded(operation: EndedOperation): void {
    const span = this.tracker.activeSpan;
    if (span?.isRecording()) this.#addOperation(span, operation);
  }

  #addOperation(span: Span, { type, name, errorCodes }: EndedOperation): void {
    this.#spansWithOperation.add(span);
    const attributes: Attributes = {};
    if (type !== undefined) {
      const spanName = name === undefined ? OTHER_LABEL : this.#spanNameOf(`${type} ${name}`);
      span.updateName(spanName === OTHER_LABEL ? type : spanName);
      attributes['graphql.operation.type'] = type;
    }
    if (name !== undefined) attributes['graphql.operation.name'] = name;
    const keptErrorCodes = [...new Set(errorCodes.filter((code) => typeof code === 'string'))].slice(
      0,
      MAX_SPAN_ERROR_CODES,
    );
    if (keptErrorCodes.length > 0) attributes['paygraph.error.codes'] = keptErrorCodes;
    span.setAttributes(attributes);
    const serverErrorCode = keptErrorCodes.find((code) => SERVER_ERROR_CODE_PATTERN.test(code));
    if (serverErrorCode !== undefined) markFailed(span, serverErrorCode);
  }
}
