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

/** What a span may say of a fault: the code or the class of an error. Its message may hold anything. */
export function codeOf(error: unknown): string {
  const { code, name } = error instanceof Error ? (error as Error & { code?: unknown }) : {};
  const word = typeof code === 'string' ? code : name;
  return word !== undefined && /^[A-Za-z]\w{0,63}$/.test(word) ? word : '_OTHER';
}

/** Says of a span that it went wrong, and how in one word. */
export const fail = (span: Span, code: string): Span =>
  span.setAttribute('error.type', code).setStatus({ code: SpanStatusCode.ERROR });

/** The spans of this process, and which of them is open where. */
export class Spans {
  readonly #tracer: Tracer;
  readonly #here = new AsyncLocalStorage<Context>();

  constructor(tracer: Tracer) {
    this.#tracer = tracer;
  }

  /** The span to which belongs what is done here; undefined outside of all. It may have ended. */
  get current(): Span | undefined {
    const context = this.#here.getStore();
    return context && trace.getSpan(context);
  }

  /** Begins a span of the gateway's own: below what a context says, or below nothing. */
  begin(name: string, options: SpanOptions, parent: Context = ROOT_CONTEXT): Span {
    return this.#tracer.startSpan(name, { kind: SpanKind.SERVER, ...options }, parent);
  }

  /** Begins a span below what whoever asks has sent along, if that was kept by `inside`. */
  beginHere(name: string): Span {
    return this.begin(name, {}, this.#here.getStore());
  }

  /** Does something inside a context. */
  inside<T>(context: Context, work: () => T): T {
    return this.#here.run(context, work);
  }

  /** Does something as a part of a span. */
  within<T>(span: Span, work: () => T): T {
    return this.#here.run(trace.setSpan(ROOT_CONTEXT, span), work);
  }

  /**
   * A call to others as a span below the one that is open here. Where none is, or what is open is not kept, or has ended
   * already, it is a call like any other.
   * @param options made only where there is a span
   * @param answered tells the span of the answer
   */
  async call<T>(
    name: string,
    options: () => SpanOptions,
    work: () => Promise<T>,
    answered?: (span: Span, answer: T) => void,
  ): Promise<T> {
    const context = this.#here.getStore();
    if (!context || !trace.getSpan(context)?.isRecording()) return work();
    const span = this.#tracer.startSpan(name, { kind: SpanKind.CLIENT, ...options() }, context);
    try {
      const answer = await work();
      answered?.(span, answer);
      return answer;
    } catch (error) {
      fail(span, codeOf(error));
      throw error;
    } finally {
      span.end();
    }
  }
}
