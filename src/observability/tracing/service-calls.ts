import type { Attributes, Span } from '@opentelemetry/api';
import { fail, type Spans } from './spans';

/** A call to the payment service, as far as spans may know of it: a lookup has a query, whose ids are not looked at. */
interface ServiceCall {
  /** Below api/v1/; the service puts no ids there. */
  path: string;
}

interface ServiceOptions {
  spans: Spans;
  baseUrl: string;
  /** The status of a lookup that finds nothing, which is no fault. */
  notFoundStatus: number;
}

/** Spans of requests to the payment service, by OpenTelemetry's conventions for HTTP clients, but without url.full. */
export class ServiceCalls {
  readonly #options: ServiceOptions;
  readonly #server: Attributes;
  /** How often a call has been sent: whoever sends it again sends the same object. */
  readonly #sent = new WeakMap<ServiceCall, number>();

  constructor(options: ServiceOptions) {
    const { hostname, port, protocol } = new URL(options.baseUrl);
    this.#options = options;
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
    return this.#options.spans.call(
      `${method} ${template}`,
      () => ({ attributes: attributes() }),
      exchange,
      (span, { status }) => this.#answered(span, method, status),
    );
  }

  #answered(span: Span, method: string, status: number): void {
    span.setAttribute('http.response.status_code', status);
    const isNone = method === 'GET' && status === this.#options.notFoundStatus;
    if (status >= 400 && !isNone) fail(span, String(status));
  }
}
