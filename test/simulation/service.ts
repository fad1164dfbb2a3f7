import { createHmac } from 'node:crypto';
import { Ledger, resource, type Entry, type Kind } from '../support/payment-service/ledger';
import type { Faults } from './faults';
import type { World } from './world';

export const API_KEY = 'simulated-key';
export const SECRET_KEY = 'simulated-secret';

const MAX_AGE_MS = 5 * 60 * 1000;

export interface ServiceRequest {
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  data: string;
}

export interface ServiceResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}

export class SimulatedService {
  readonly ledger: Ledger;
  onCreate: (entry: Entry) => void = () => undefined;

  constructor(
    private readonly world: World,
    private readonly faults: Faults,
  ) {
    const random = world.random.fork();
    this.ledger = new Ledger(() => random.uuid());
    this.ledger.shows = faults.profile.shows;
    this.ledger.acceptsRepeats = faults.profile.acceptsRepeatedConfirms;
  }

  now(): number {
    return this.world.now + this.faults.profile.serviceSkewMs;
  }

  addForeign(kind: Kind, body: Record<string, unknown>, agoMs: number): Entry {
    return this.ledger.create(kind, body, this.now() - agoMs);
  }

  handle(request: ServiceRequest): ServiceResponse {
    if (!this.#isSigned(request)) return this.response(401, { message: 'unauthorized' });
    const kind: Kind = request.path.includes('/payout/') ? 'payout' : 'payment';
    if (request.method === 'GET') {
      const entry = this.ledger.find(kind, new URLSearchParams(request.data), this.now());
      return entry
        ? this.response(200, resource(entry, true))
        : this.response(404, { code: 'not_found', message: 'not found' });
    }
    const body = JSON.parse(request.data) as Record<string, unknown>;
    if (request.path.endsWith('/confirm/')) return this.#confirm(body);
    const entry = this.ledger.create(kind, body, this.now());
    this.#delayVisibility(entry);
    this.world.trace(`service created ${entry.transactionId} ${entry.description}`);
    this.onCreate(entry);
    return this.response(201, resource(entry, false));
  }

  #confirm(body: Record<string, unknown>): ServiceResponse {
    const entry = this.ledger.confirm(body);
    this.world.trace(`service confirm ${String(body['id'])} ${entry ? 'carried out' : 'refused'}`);
    if (!entry) return this.response(400, { message: 'cannot be confirmed' });
    return this.response(200, resource(entry, false));
  }

  #delayVisibility(entry: Entry): void {
    const { faults } = this;
    if (faults.happens('lookup_lag')) {
      faults.count('lookup_lag', entry.description);
      entry.visibleAt = entry.createdAt + faults.random.between(1, faults.profile.lagMs);
    }
    // A purged journal relies on lookups alone, and lookups must show what was created long ago.
    if (faults.happens('lookup_hidden') && faults.profile.lagMs > 1000 && !faults.profile.purges) {
      faults.count('lookup_hidden', entry.description);
      entry.hiddenLookups = faults.random.between(1, 2);
    }
  }

  #isSigned({ headers, data }: ServiceRequest): boolean {
    const timestamp = headers['x-timestamp'] ?? '';
    const signature = createHmac('sha256', SECRET_KEY).update(timestamp).update(data).digest('hex');
    const isFresh = Math.abs(this.now() - Number(timestamp) * 1000) <= MAX_AGE_MS;
    return headers['x-api-key'] === API_KEY && headers['x-signature'] === signature && isFresh;
  }

  response(status: number, json: unknown): ServiceResponse {
    const date = this.faults.profile.sendsDate && { date: new Date(this.now()).toUTCString() };
    return { status, headers: { 'content-type': 'application/json', ...date }, body: JSON.stringify(json) };
  }
}
