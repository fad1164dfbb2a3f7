import { SpanKind, type Attributes, type SpanContext } from '@opentelemetry/api';
import { LRUCache } from 'lru-cache';
import { endSpanAfter, markFailed, type SpanTracker } from './spans';

/** Maximum number of attempts whose span is remembered, so that spans of later background work can link to it. */
const MAX_REMEMBERED_SPANS = 5000;

/** Journal methods whose calls get no span: background jobs call them frequently. */
const UNTRACED_JOURNAL_METHODS: ReadonlySet<string> = new Set([
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
export function createJournalTracing(tracker: SpanTracker) {
  const spanContextByAttemptId = new LRUCache<string, SpanContext>({ max: MAX_REMEMBERED_SPANS });
  return {
    /**
     * Returns a function that runs a journal call. If a recorded span is active, the call gets a span, unless it is one
     * of UNTRACED_JOURNAL_METHODS. For runInBackgroundSpan(), remembers the active span when an attempt is inserted.
     * @param dbSystem value of the attribute db.system.name
     */
    traceJournal:
      (dbSystem: 'sqlite' | 'postgresql') =>
      <T>(methodName: string, callArguments: readonly unknown[], runCall: () => Promise<T>): Promise<T> => {
        if (UNTRACED_JOURNAL_METHODS.has(methodName)) return runCall();
        const activeSpan = tracker.activeSpan;
        if (methodName === 'insertAttempt' && activeSpan?.isRecording())
          spanContextByAttemptId.set((callArguments[0] as { id: string }).id, activeSpan.spanContext());
        const getAttributes = () => ({ 'db.system.name': dbSystem, 'db.operation.name': methodName });
        return tracker.runAsClientSpan(`journal ${methodName}`, getAttributes, runCall);
      },
    /**
     * Runs background work in a new trace.
     * @param attemptId id of the attempt that the work is about, if any. If this process has inserted the attempt and
     *   still knows the span that was active before the insert, the new trace is linked to that span.
     */
    runInBackgroundSpan<T>(
      { name: spanName, attemptId }: { name: string; attemptId?: string },
      work: () => Promise<T>,
    ): Promise<T> {
      const linkedSpanContext = attemptId === undefined ? undefined : spanContextByAttemptId.get(attemptId);
      const spanLinks = linkedSpanContext ? [{ context: linkedSpanContext }] : [];
      const span = tracker.startSpan(spanName, { kind: SpanKind.INTERNAL, links: spanLinks });
      return endSpanAfter(span, () => tracker.withActiveSpan(span, work));
    },
  };
}

/** Settings of the payment service that are needed for the spans of requests to the service. */
export interface ServiceSpanSettings {
  baseUrl: string;
  /** HTTP status of a lookup that finds nothing. A span of a lookup with this status is not marked as failed. */
  notFoundStatus: number;
}

/** A request to the payment service. A lookup also has a `queryString`. Spans omit it, because it contains ids. */
interface ServiceCall {
  /** Path below /api/v1/, without ids. */
  apiPath: string;
}

/**
 * Returns a function that runs `sendRequest` in a client span. `sendRequest` sends a request to the payment service and
 * awaits the response. Spans follow OpenTelemetry's conventions, but omit url.full, because it would contain ids.
 */
export function createServiceTracing(tracker: SpanTracker, { baseUrl, notFoundStatus }: ServiceSpanSettings) {
  const { hostname, port, protocol } = new URL(baseUrl);
  /** Number of times each request was sent. A retry passes the same ServiceCall object. */
  const sendCountByCall = new WeakMap<ServiceCall, number>();
  return <A extends { status: number }>(
    serviceCall: ServiceCall,
    sendRequest: () => Promise<A>,
  ): Promise<A> => {
    const httpMethod = 'queryString' in serviceCall ? 'GET' : 'POST';
    const urlTemplate = `/api/v1/${serviceCall.apiPath}`;
    const resendCount = sendCountByCall.get(serviceCall) ?? 0;
    sendCountByCall.set(serviceCall, resendCount + 1);
    const getAttributes = (): Attributes => ({
      'http.request.method': httpMethod,
      'url.template': urlTemplate,
      'server.address': hostname,
      'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
      ...(resendCount > 0 && { 'http.request.resend_count': resendCount }),
    });
    const spanName = `${httpMethod} ${urlTemplate}`;
    return tracker.runAsClientSpan(spanName, getAttributes, sendRequest, (span, { status: httpStatus }) => {
      span.setAttribute('http.response.status_code', httpStatus);
      const isNotFound = httpMethod === 'GET' && httpStatus === notFoundStatus;
      if (httpStatus >= 400 && !isNotFound) markFailed(span, String(httpStatus));
    });
  };
}
