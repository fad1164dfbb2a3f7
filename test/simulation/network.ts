import type { Connections } from '../../src/datasources/payment-service/http/connections';
import type { Controller, Exchange } from '../../src/datasources/payment-service/http/http-exchange';
import type { Faults } from './faults';
import type { Machine } from './machine';
import { LOOKUP_FAULTS, SERVICE_FAULTS, type Fault, type LookupFault, type ServiceFault } from './profile';
import type { ServiceRequest, ServiceResponse, SimulatedService } from './service';
import type { World } from './world';

/** Statuses after which the outcome of a create is unknown. */
const UNKNOWN_STATUSES = [408, 409, 425, 500, 502, 503, 504];
const REFUSED_STATUSES = [400, 403, 404, 422];

interface NetworkOptions {
  world: World;
  faults: Faults;
  service: SimulatedService;
  /** Called when the first byte of a create or confirm is written. */
  onPost(request: ServiceRequest, machine: Machine): void;
  /** Called when the process no longer waits for the response. */
  onPostEnd(request: ServiceRequest): void;
  /** Returns the id of a transaction of another create whose success the journal has recorded durably. */
  recordedTransaction(request: ServiceRequest): string | undefined;
}

type Message = Omit<ServiceRequest, 'method'>;

/** The network between one machine and the payment service. */
export class Network implements Connections {
  constructor(
    private readonly options: NetworkOptions,
    private readonly machine: Machine,
  ) {}

  get({ path, headers }: { path: string; headers: Record<string, string> }, exchange: Exchange): void {
    const [route = '', data = ''] = path.split('?');
    const fault = this.options.faults.choose<LookupFault>(LOOKUP_FAULTS);
    if (fault) this.options.faults.count(fault);
    this.#send(exchange, fault, { method: 'GET', path: route, headers, data });
  }

  post(request: { path: string; headers: Record<string, string>; body: string }, exchange: Exchange): void {
    const { path, headers, body: data } = request;
    const fault = this.options.faults.choose<ServiceFault>(SERVICE_FAULTS);
    if (fault) this.options.faults.count(fault, keyOf({ path, headers, data }));
    this.#send(exchange, fault, { method: 'POST', path, headers, data });
  }

  #send(exchange: Exchange, fault: Fault | undefined, request: ServiceRequest): void {
    new Transmission(this.options, this.machine, exchange, fault).send(request);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

/** Returns the key that a create carries in its description; undefined for a confirm. */
export const keyOf = ({ data }: Message): string | undefined =>
  (JSON.parse(data) as { description?: string }).description;

/** One request and its response, with at most one fault. */
class Transmission {
  #isAborted = false;
  #posted: ServiceRequest | undefined;
  readonly #controller: Controller = {
    abort: () => {
      this.#isAborted = true;
      this.#end();
    },
  };

  constructor(
    private readonly options: NetworkOptions,
    private readonly machine: Machine,
    private readonly exchange: Exchange,
    private readonly fault: Fault | undefined,
  ) {}

  send(request: ServiceRequest): void {
    const { fault, exchange, machine } = this;
    const { world, faults, onPost } = this.options;
    machine.deliver(faults.random.between(0, 3), () => {
      if (fault === 'connection_refused') {
        const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
        return exchange.onResponseError(undefined, refused);
      }
      exchange.onRequestStart(this.#controller);
      if (this.#isAborted) return;
      world.trace(`${machine.name} sends ${request.method} ${request.path} ${fault ?? ''}`);
      if (request.method === 'POST') {
        this.#posted = request;
        onPost(request, machine);
      }
      world.at(this.#transitMs(fault === 'request_late' || fault === 'lookup_late'), () =>
        this.#arrive(request),
      );
    });
  }

  /** Time in ms that a message is under way. */
  #transitMs(isLate: boolean): number {
    const { random, profile } = this.options.faults;
    if (isLate) return random.between(50, profile.transitMs);
    return random.chance(0.9) ? random.between(1, 25) : random.between(25, 300);
  }

  #arrive(request: ServiceRequest): void {
    const { service, faults } = this.options;
    const { random } = faults;
    const unreached: Partial<Record<Fault, () => void>> = {
      request_lost: () => this.#breakOff(),
      lookup_lost: () => this.#breakOff(),
      error_before_acting: () => this.#respond(this.#error(random.one(UNKNOWN_STATUSES))),
      lookup_error: () => this.#respond(this.#error(random.one(UNKNOWN_STATUSES))),
      rejected: () => this.#respond(service.response(random.one(REFUSED_STATUSES), { message: 'refused' })),
      rate_limited: () => this.#respond(service.response(429, {})),
      unauthorized: () => this.#respond(service.response(401, {})),
      lookup_proxy_404: () =>
        this.#respond(random.chance(0.5) ? this.#error(404) : service.response(404, { error: 'no route' })),
    };
    const end = this.fault && unreached[this.fault];
    if (end) end();
    else this.#afterActing(request, service.handle(request));
  }

  #afterActing(request: ServiceRequest, response: ServiceResponse): void {
    const { random } = this.options.faults;
    const { body } = response;
    const altered: Partial<Record<Fault, () => void>> = {
      response_lost: () => this.#breakOff(),
      response_silent: () => undefined,
      error_after_acting: () => this.#respond(this.#error(random.one(UNKNOWN_STATUSES))),
      response_truncated: () => this.#respond({ ...response, body: body.slice(0, body.length >> 1) }),
      response_contradicting: () =>
        this.#respond({ ...response, body: contradict(body, random.between(0, 2)) }),
      response_duplicated: () => this.#respond(this.#duplicated(request, response)),
    };
    const end = this.fault && altered[this.fault];
    if (end) end();
    else this.#respond(response);
  }

  #duplicated(request: ServiceRequest, response: ServiceResponse): ServiceResponse {
    const transactionId = this.options.recordedTransaction(request);
    if (!transactionId || response.status !== 201) return response;
    const json = JSON.parse(response.body) as object;
    return { ...response, body: JSON.stringify({ ...json, transaction_id: transactionId }) };
  }

  /** Called when the process no longer waits for the response. */
  #end(): void {
    if (this.#posted) this.options.onPostEnd(this.#posted);
    this.#posted = undefined;
  }

  /** Returns an error response of a proxy between gateway and service. */
  #error(status: number): ServiceResponse {
    return { status, headers: { 'content-type': 'text/html' }, body: '<html></html>' };
  }

  /** Resets the connection, or sends nothing more. */
  #breakOff(): void {
    const { random } = this.options.faults;
    if (random.chance(0.3)) return;
    const error = Object.assign(new Error('reset'), { code: 'ECONNRESET' });
    this.machine.deliver(this.#transitMs(false), () => {
      if (this.#isAborted) return;
      this.#end();
      this.exchange.onResponseError(this.#controller, error);
    });
  }

  #respond({ status, headers, body }: ServiceResponse): void {
    const { exchange } = this;
    const isLate = this.fault === 'response_late';
    this.machine.deliver(this.#transitMs(isLate), () => {
      if (this.#isAborted) return;
      this.#end();
      exchange.onResponseStart(this.#controller, status, headers);
      exchange.onResponseData(this.#controller, Buffer.from(body));
      exchange.onResponseEnd();
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
