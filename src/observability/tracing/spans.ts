import { AsyncLocalStorage } from 'node:async_hooks';
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type Span,
  type SpanOptions,
  type Tracer,
} from '@opentelemetry/api';

/**
 * Returns the attribute error.type for an error: its code or, if it has no code, its name. Returns `_OTHER` if this is
 * not a plain word. Omits the message, because it may contain payment data.
 */
function errorTypeOf(error: unknown): string {
  const { code, name } = error instanceof Error ? (error as Error & { code?: unknown }) : {};
  const errorType = typeof code === 'string' ? code : name;
  return errorType !== undefined && /^[A-Za-z]\w{0,63}$/.test(errorType) ? errorType : '_OTHER';
}

/** Sets the status of a span to ERROR, and its attribute error.type to `errorType`. */
export const markFailed = (span: Span, errorType: string): Span =>
  span.setAttribute('error.type', errorType).setStatus({ code: SpanStatusCode.ERROR });

/** Awaits `work()` and ends the span. If `work` rejects, marks the span as failed and rejects with the same error. */
export async function endSpanAfter<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    markFailed(span, errorTypeOf(error));
    throw error;
  } finally {
    span.end();
  }
}

/** Starts spans and tracks the active span. */
export class SpanTracker {
  readonly #contextStorage = new AsyncLocalStorage<Context>();

  constructor(private readonly tracer: Tracer) {}

  /**
   * The active OpenTelemetry context, the parent of client and subscription spans; undefined if none is active. It
   * contains the active span or, if the request got no span, the span in its traceparent header (if any).
   */
  get activeContext(): Context | undefined {
    return this.#contextStorage.getStore();
  }

  /** The active span, which may have ended already; undefined if there is none. */
  get activeSpan(): Span | undefined {
    return this.activeContext && trace.getSpan(this.activeContext);
  }

  /** Starts a span; by default a server span without a parent. */
  startSpan(spanName: string, spanOptions: SpanOptions, parentContext: Context = ROOT_CONTEXT): Span {
    return this.tracer.startSpan(spanName, { kind: SpanKind.SERVER, ...spanOptions }, parentContext);
  }

  /** Runs `work` with `context` active, also in the asynchronous calls that it starts. */
  withContext<T>(context: Context, work: () => T): T {
    return this.#contextStorage.run(context, work);
  }

  /** Runs a function while a span is the active span. */
  withActiveSpan<T>(span: Span, work: () => T): T {
    return this.#contextStorage.run(trace.setSpan(ROOT_CONTEXT, span), work);
  }

  /**
   * Runs `work` in a client span that is a child of the active span. If no recorded span is active, only runs `work`.
   * @param onResult called when `work` has succeeded, before the span ends; can add attributes to the span
   */
  async runAsClientSpan<T>(
    spanName: string,
    getAttributes: () => Attributes,
    work: () => Promise<T>,
    onResult?: (span: Span, result: T) => void,
  ): Promise<T> {
    if (!this.activeSpan?.isRecording()) return work();
    const spanOptions = { kind: SpanKind.CLIENT, attributes: getAttributes() };
    const span = this.startSpan(spanName, spanOptions, this.activeContext);
    return endSpanAfter(span, async () => {
      const result = await work();
      onResult?.(span, result);
      return result;
    });
  }
}
