import type { RequestSpans } from './request-spans';
import type { Spans } from './spans';

/** The span of one subscription. */
export interface SubscriptionSpan {
  /** Does something as a part of it. */
  within<T>(work: () => T): T;
  /** It has sent its first result, or has ended without one. What comes after the first call is of no interest. */
  settled(name: string | undefined, codes: readonly unknown[]): void;
}

/**
 * Begins the span of a subscription, which ends with its first result: a span is seen when it has ended, and a
 * subscription may last for hours.
 */
export function beginSubscription(spans: Spans, requests: RequestSpans): SubscriptionSpan {
  const span = spans.beginHere('subscription');
  return {
    within: (work) => spans.within(span, work),
    settled: (name, codes) => {
      if (!span.isRecording()) return;
      requests.tell(span, { type: 'subscription', name, codes });
      span.end();
    },
  };
}
