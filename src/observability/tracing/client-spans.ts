import { SpanKind, type Attributes, type Link, type SpanContext } from '@opentelemetry/api';
import { LRUCache } from 'lru-cache';
import { codeOf, fail, type Spans } from './spans';

/** Creates whose span is remembered, for links from background work. */
const MAX_REMEMBERED = 5000;

/** Frequent journal calls that belong to no operation. */
const UNTRACED: ReadonlySet<string | symbol> = new Set(['ping', 'close', 'renew', 'time', 'checkWrite']);

/** Spans of journal calls, and of background work on an attempt. */
export class JournalSpans {
  readonly #spans: Spans;
  readonly #begunBy = new LRUCache<string, SpanContext>({ max: MAX_REMEMBERED });

  constructor(spans: Spans) {
    this.#spans = spans;
  }

  /**
   * Wraps a journal, so that its calls are spans.
   * @param system value of db.system.name
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

  /** Runs background work as a trace of its own, linked to the span that created the attempt. */
  async background<T>(
    { name, attempt }: { name: string; attempt?: string },
    work: () => Promise<T>,
  ): Promise<T> {
    const context = attempt === undefined ? undefined : this.#begunBy.get(attempt);
    const links: Link[] = context ? [{ context }] : [];
    const span = this.#spans.begin(name, { kind: SpanKind.INTERNAL, links });
    try {
      return await this.#spans.within(span, work);
    } catch (error) {
      fail(span, codeOf(error));
      throw error;
    } finally {
      span.end();
    }
  }

  #call<T>(name: string, system: string, work: () => Promise<T>, first: unknown): Promise<T> {
    const span = this.#spans.current;
    if (name === 'insertAttempt' && span?.isRecording())
      this.#begunBy.set((first as { id: string }).id, span.spanContext());
    const attributes = { 'db.system.name': system, 'db.operation.name': name };
    return this.#spans.call(`journal ${name}`, () => ({ attributes }), work);
  }
}

/** The payment service, as spans describe it. */
export interface TracedService {
  baseUrl: string;
  /** The status of a lookup that finds nothing, which is no error. */
  notFoundStatus: number;
}

/** A request to the payment service: a lookup has a `query`, which contains ids and is not in spans. */
interface ServiceCall {
  /** Below api/v1/; contains no ids. */
  path: string;
}

/** Spans of requests to the payment service, by OpenTelemetry's conventions for HTTP clients, without url.full. */
export class ServiceSpans {
  readonly #spans: Spans;
  readonly #notFoundStatus: number;
  readonly #server: Attributes;
  /** Number of times that a call was sent; a retry passes the same object. */
  readonly #sent = new WeakMap<ServiceCall, number>();

  constructor(spans: Spans, { baseUrl, notFoundStatus }: TracedService) {
    const { hostname, port, protocol } = new URL(baseUrl);
    this.#spans = spans;
    this.#notFoundStatus = notFoundStatus;
    this.#server = {
      'server.address': hostname,
      'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
    };
  }

  /** Sends one request as a span. */
  send<A extends { status: number }>(call: ServiceCall, exchange: () => Promise<A>): Promise<A> {
    const method = 'query' in call ? 'GET' : 'POST';
    const template = `/api/v1/${call.path}`;
    const resends = this.#sent.get(call) ?? 0;
    this.#sent.set(call, resends + 1);
    const attributes = (): Attributes => ({
      'http.request.method': method,
      'url.template': template,
      ...this.#server,
      ...(resends > 0 && { 'http.request.resend_count': resends }),
    });
    return this.#spans.call(
      `${method} ${template}`,
      () => ({ attributes: attributes() }),
      exchange,
      (span, { status }) => {
        span.setAttribute('http.response.status_code', status);
        const isNotFound = method === 'GET' && status === this.#notFoundStatus;
        if (status >= 400 && !isNotFound) fail(span, String(status));
      },
    );
  }
}
