import { AsyncLocalStorage } from 'node:async_hooks';
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span,
  type SpanOptions,
  type Tracer,
} from '@opentelemetry/api';

/** The code or class of an error. Its message may contain anything. */
export function codeOf(error: unknown): string {
  const { code, name } = error instanceof Error ? (error as Error & { code?: unknown }) : {};
  const word = typeof code === 'string' ? code : name;
  return word !== undefined && /^[A-Za-z]\w{0,63}$/.test(word) ? word : '_OTHER';
}

/** Sets the error status of a span. */
export const fail = (span: Span, code: string): Span =>
  span.setAttribute('error.type', code).setStatus({ code: SpanStatusCode.ERROR });

/** Starts spans and keeps the active one. */
export class Spans {
  readonly #tracer: Tracer;
  readonly #active = new AsyncLocalStorage<Context>();

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  /** The active span, which may have ended; undefined where there is none. */
  get current(): Span | undefined {
    const context = this.#active.getStore();
    return context && trace.getSpan(context);
  }

  begin(name: string, options: SpanOptions, parent: Context = ROOT_CONTEXT): Span {
    return this.#tracer.startSpan(name, { kind: SpanKind.SERVER, ...options }, parent);
  }

  /** Begins a span below the caller's context that `inside` has set. */
  beginHere(name: string): Span {
    return this.begin(name, {}, this.#active.getStore());
  }

  /** Runs a function in a context. */
  inside<T>(context: Context, work: () => T): T {
    return this.#active.run(context, work);
  }

  /** Runs a function with a span as the active one. */
  within<T>(span: Span, work: () => T): T {
    return this.#active.run(trace.setSpan(ROOT_CONTEXT, span), work);
  }

  /**
   * Runs a function as a client span below the active span; without a span where none is active or recorded.
   * @param options called only where there is a span
   * @param onResult adds the result to the span
   */
  async call<T>(
    name: string,
    options: () => SpanOptions,
    work: () => Promise<T>,
    onResult?: (span: Span, result: T) => void,
  ): Promise<T> {
    const context = this.#active.getStore();
    if (!context || !trace.getSpan(context)?.isRecording()) return work();
    const span = this.#tracer.startSpan(name, { kind: SpanKind.CLIENT, ...options() }, context);
    try {
      const result = await work();
      onResult?.(span, result);
      return result;
    } catch (error) {
      fail(span, codeOf(error));
      throw error;
    } finally {
      span.end();
    }
  }
}
