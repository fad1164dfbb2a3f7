import { SpanKind, type Link, type SpanContext } from '@opentelemetry/api';
import { LRUCache } from 'lru-cache';
import { codeOf, fail, type Spans } from './spans';

/** Of so many creates it is remembered which span began them, for as long as this process lives. */
const MAX_REMEMBERED = 5000;

/** Asked too often to be of interest, and by nobody's operation. */
const UNTRACED: ReadonlySet<string | symbol> = new Set(['ping', 'close', 'renew', 'time', 'checkWrite']);

/** Something that belongs to no request. */
export interface BackgroundWork {
  /** What it is called; one of a few. */
  name: string;
  /** The id of the attempt that it is about, where it is about one. */
  attempt?: string;
}

/** Spans of what is done with the journal, and of what is done later for an attempt that stands there. */
export class JournalSpans {
  readonly #spans: Spans;
  readonly #begunBy = new LRUCache<string, SpanContext>({ max: MAX_REMEMBERED });

  constructor(spans: Spans) {
    this.#spans = spans;
  }

  /**
   * The same journal; what an operation asks of it is a span.
   * @param system the kind of store, in OpenTelemetry's words
   */
  journal<J extends object>(journal: J, system: 'sqlite' | 'postgresql'): J {
    return new Proxy(journal, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        const method = value.bind(target) as (...args: unknown[]) => Promise<unknown>;
        if (UNTRACED.has(name)) return method;
        return (...args: unknown[]) => this.#call(String(name), system, () => method(...args), args[0]);
      },
    });
  }

  /** Does something that belongs to no request, as a trace of its own that refers to the one which began the attempt. */
  background<T>({ name, attempt }: BackgroundWork, work: () => Promise<T>): Promise<T> {
    const context = attempt === undefined ? undefined : this.#begunBy.get(attempt);
    const links: Link[] = context ? [{ context }] : [];
    const span = this.#spans.begin(name, { kind: SpanKind.INTERNAL, links });
    return this.#spans.within(span, async () => {
      try {
        return await work();
      } catch (error) {
        fail(span, codeOf(error));
        throw error;
      } finally {
        span.end();
      }
    });
  }

  #call<T>(name: string, system: string, work: () => Promise<T>, first: unknown): Promise<T> {
    const span = this.#spans.current;
    if (name === 'insertAttempt' && span?.isRecording()) this.#begunBy.set(idOf(first), span.spanContext());
    const attributes = { 'db.system.name': system, 'db.operation.name': name };
    return this.#spans.call(`journal ${name}`, () => ({ attributes }), work);
  }
}

const idOf = (attempt: unknown): string => (attempt as { id: string }).id;
