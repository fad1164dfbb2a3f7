import type { ServiceConnections } from '../../src/datasources/payment-service/http/connections';
import type {
  DispatchController,
  HttpExchange,
} from '../../src/datasources/payment-service/http/http-exchange';
import type { Environment } from './environment';
import type { Machine } from './machine';
import { LOOKUP_FAULTS, SERVICE_FAULTS, type Fault } from './profile';
import type { ServiceRequest, ServiceResponse } from './service';

const UNKNOWN_STATUSES = [408, 409, 425, 500, 502, 503, 504];
const REFUSED_STATUSES = [400, 403, 404, 422];

export const connectionsTo = (
  send: (request: ServiceRequest, exchange: HttpExchange) => void,
): ServiceConnections => ({
  get: ({ path, headers }, exchange) => {
    const [route = '', data = ''] = path.split('?');
    send({ method: 'GET', path: route, headers, data }, exchange);
  },
  post: ({ path, headers, body: data }, exchange) => send({ method: 'POST', path, headers, data }, exchange),
  close: () => Promise.resolve(),
});

export function receive(exchange: HttpExchange, controller: DispatchController, response: ServiceResponse) {
  exchange.onResponseStart(controller, response.status, response.headers);
  exchange.onResponseData(controller, Buffer.from(response.body));
  exchange.onResponseEnd();
}

export const networkOf = (environment: Environment, machine: Machine): ServiceConnections =>
  connectionsTo((request, exchange) => new Transmission(environment, machine, request, exchange).send());

const proxyError = (status: number): ServiceResponse => ({
  status,
  headers: { 'content-type': 'text/html' },
  body: '<html></html>',
});

class Transmission {
  #isAborted = false;
  #isPosted = false;
  readonly #fault: Fault | undefined;
  readonly #controller: DispatchController = {
    abort: () => {
      this.#isAborted = true;
      this.#end();
    },
  };

  constructor(
    private readonly environment: Environment,
    private readonly machine: Machine,
    private readonly request: ServiceRequest,
    private readonly exchange: HttpExchange,
  ) {
    const { faults } = environment;
    const isLookup = request.method === 'GET';
    this.#fault = faults.choose<Fault>(isLookup ? LOOKUP_FAULTS : SERVICE_FAULTS);
    // A create carries its key in its description.
    const body = isLookup ? {} : (JSON.parse(request.data) as { description?: string });
    if (this.#fault) faults.count(this.#fault, body.description);
  }

  send(): void {
    const { exchange, machine, request } = this;
    const { world, faults, checker } = this.environment;
    const fault = this.#fault;
    machine.deliver(faults.random.between(0, 3), () => {
      if (fault === 'connection_refused') {
        const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
        return exchange.onResponseError(undefined, refused);
      }
      exchange.onRequestStart(this.#controller);
      if (this.#isAborted) return;
      world.trace(`${machine.name} sends ${request.method} ${request.path} ${fault ?? ''}`);
      this.#isPosted = request.method === 'POST';
      if (this.#isPosted) checker.onPost(request, machine);
      world.at(this.#transitMs(fault === 'request_late' || fault === 'lookup_late'), () => this.#arrive());
    });
  }

  #transitMs(isLate: boolean): number {
    const { random, profile } = this.environment.faults;
    if (isLate) return random.between(50, profile.transitMs);
    return random.chance(0.9) ? random.between(1, 25) : random.between(25, 300);
  }

  #arrive(): void {
    const { service, faults } = this.environment;
    const { random } = faults;
    const fault = this.#fault;
    if (fault === 'request_lost' || fault === 'lookup_lost') return this.#breakOff();
    if (fault === 'error_before_acting' || fault === 'lookup_error')
      return this.#respond(proxyError(random.one(UNKNOWN_STATUSES)));
    if (fault === 'rejected')
      return this.#respond(service.response(random.one(REFUSED_STATUSES), { message: 'refused' }));
    if (fault === 'rate_limited') return this.#respond(service.response(429, {}));
    if (fault === 'unauthorized') return this.#respond(service.response(401, {}));
    if (fault === 'lookup_proxy_404')
      return this.#respond(
        random.chance(0.5) ? proxyError(404) : service.response(404, { error: 'no route' }),
      );
    this.#afterActing(service.handle(this.request));
  }

  #afterActing(response: ServiceResponse): void {
    const { random } = this.environment.faults;
    const { body } = response;
    const fault = this.#fault;
    if (fault === 'response_silent') return;
    if (fault === 'response_lost') this.#breakOff();
    else if (fault === 'error_after_acting') this.#respond(proxyError(random.one(UNKNOWN_STATUSES)));
    else if (fault === 'response_truncated')
      this.#respond({ ...response, body: body.slice(0, body.length >> 1) });
    else if (fault === 'response_contradicting')
      this.#respond({ ...response, body: contradict(body, random.between(0, 2)) });
    else this.#respond(fault === 'response_duplicated' ? this.#duplicated(response) : response);
  }

  #duplicated(response: ServiceResponse): ServiceResponse {
    const transactionId = this.environment.checker.recordedTransaction(this.request);
    if (!transactionId || response.status !== 201) return response;
    const json = JSON.parse(response.body) as object;
    return { ...response, body: JSON.stringify({ ...json, transaction_id: transactionId }) };
  }

  #end(): void {
    if (this.#isPosted) this.environment.checker.onPostEnd(this.request);
    this.#isPosted = false;
  }

  #breakOff(): void {
    if (this.environment.faults.random.chance(0.3)) return;
    const error = Object.assign(new Error('reset'), { code: 'ECONNRESET' });
    this.#deliver(false, () => this.exchange.onResponseError(this.#controller, error));
  }

  #respond(response: ServiceResponse): void {
    const isLate = this.#fault === 'response_late';
    this.#deliver(isLate, () => receive(this.exchange, this.#controller, response));
  }

  #deliver(isLate: boolean, run: () => void): void {
    this.machine.deliver(this.#transitMs(isLate), () => {
      if (this.#isAborted) return;
      this.#end();
      run();
    });
  }
}

const NO_TRANSACTION = 'ffffffff-ffff-4fff-bfff-ffffffffffff';

function contradict(body: string, variant: number): string {
  const json = JSON.parse(body) as Record<string, unknown>;
  if (variant === 0) return JSON.stringify({ ...json, transaction_id: 'none' });
  const other = { ...json, transaction_id: NO_TRANSACTION };
  if (variant === 1) return JSON.stringify({ ...other, external_id: 'another' });
  return JSON.stringify({ ...other, amount: { currency: 'INR', value: '1.23' } });
}
