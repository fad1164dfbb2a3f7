import { SpanKind, type Attributes, type SpanContext } from '@opentelemetry/api';
import { LRUCache } from 'lru-cache';
import { endSpanAfter, markFailed, type Spans } from './spans';

/** Maximum number of attempts whose span context is kept for links from traces of background work. */
const MAX_ATTEMPT_SPANS = 5000;

/** Journal methods whose calls get no span: most are called frequently by background jobs. */
const UNTRACED_CALLS: ReadonlySet<string | symbol> = new Set([
  'ping',
  'close',
  'renew',
  'time',
  'checkWrite',
  'readFenceState',
  'mayBeFollowed',
  'recordObservation',
  'claimFollowed',
  'scheduleFollowed',
]);

/** Creates spans of journal calls and of background work on an attempt. */
export class JournalSpans {
  readonly #spanByAttempt = new LRUCache<string, SpanContext>({ max: MAX_ATTEMPT_SPANS });

  constructor(private readonly spans: Spans) {}

  /**
   * Returns a proxy of a journal. If a recorded span is active, calls of the proxy get spans, except UNTRACED_CALLS.
   * Remembers the span that is active when an attempt is inserted, for runInBackgroundSpan().
   * @param system value of the attribute db.system.name
   */
  traceJournal<J extends object>(journal: J, system: 'sqlite' | 'postgresql'): J {
    return new Proxy(journal, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        const method = value.bind(target) as (...args: unknown[]) => Promise<unknown>;
        if (UNTRACED_CALLS.has(name)) return method;
        const methodName = String(name);
        const attributes = { 'db.system.name': system, 'db.operation.name': methodName };
        return (...args: unknown[]) => {
          const span = this.spans.activeSpan;
          if (name === 'insertAttempt' && span?.isRecording())
            this.#spanByAttempt.set((args[0] as { id: string }).id, span.spanContext());
          const call = () => method(...args);
          return this.spans.runAsClientSpan(`journal ${methodName}`, () => attributes, call);
        };
      },
    });
  }

  /**
   * Runs background work in a new trace.
   * @param attempt id of the attempt that the work is about, if any. If this process has inserted the attempt and still
   *   knows the span that was active before the insert, the new trace is linked to that span.
   */
  runInBackgroundSpan<T>(
    { name, attempt }: { name: string; attempt?: string },
    work: () => Promise<T>,
  ): Promise<T> {
    const context = attempt === undefined ? undefined : this.#spanByAttempt.get(attempt);
    const links = context ? [{ context }] : [];
    const span = this.spans.startSpan(name, { kind: SpanKind.INTERNAL, links });
    return endSpanAfter(span, () => this.spans.withActiveSpan(span, work));
  }
}

/** Settings of the payment service that are needed for the spans of requests to the service. */
export interface ServiceSpanSettings {
  baseUrl: string;
  /** HTTP status of a lookup that finds nothing. A span of a lookup with this status is not marked as failed. */
  notFoundStatus: number;
}

/** A request to the payment service. A lookup also has a field `query`. Spans omit it, because it contains ids. */
interface ServiceCall {
  /** Path below /api/v1/, without ids. */
  path: string;
}

/**
 * Returns a function that runs `exchange` in a client span. `exchange` sends a request to the payment service and awaits
 * the response. The spans follow OpenTelemetry's conventions, but omit the attribute url.full, because it would contain
 * ids.
 */
export function serviceSpans(spans: Spans, { baseUrl, notFoundStatus }: ServiceSpanSettings) {
  const { hostname, port, protocol } = new URL(baseUrl);
  /** Number of times each request was sent. A retry passes the same ServiceCall object. */
  const sendCounts = new WeakMap<ServiceCall, number>();
  return <A extends { status: number }>(call: ServiceCall, exchange: () => Promise<A>): Promise<A> => {
    const method = 'query' in call ? 'GET' : 'POST';
    const template = `/api/v1/${call.path}`;
    const resends = sendCounts.get(call) ?? 0;
    sendCounts.set(call, resends + 1);
    const attributes = (): Attributes => ({
      'http.request.method': method,
      'url.template': template,
      'server.address': hostname,
      'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
      ...(resends > 0 && { 'http.request.resend_count': resends }),
    });
    return spans.runAsClientSpan(`${method} ${template}`, attributes, exchange, (span, { status }) => {
      span.setAttribute('http.response.status_code', status);
      const isNotFound = method === 'GET' && status === notFoundStatus;
      if (status >= 400 && !isNotFound) markFailed(span, String(status));
    });
  };
}
