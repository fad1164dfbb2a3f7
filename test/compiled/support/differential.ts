import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import path from 'node:path';
import { CompiledOperationCache } from '../../../src/http/compiled/compiled-operation-cache';
import { AUTHORIZED } from '../../support/credentials';
import { until } from '../../support/latch';
import { CHANNEL, temporaryDatabase, testGateway, type TestClient, testService } from '../../support/gateway';
import type { FakePaymentService, ReceivedRequest } from '../../support/payment-service/fake-payment-service';
import { lookupReply } from './transactions';

/** A request to /graphql. */
export interface TestRequest {
  /** Default: POST. */
  method?: string;
  /** The query string, with `?`. Default: none. */
  search?: string;
  /** Headers added to authorization and content-type, or replacing them; an undefined header is not sent. */
  headers?: Record<string, string | string[] | undefined>;
  /** A string is sent as it is, any other value as JSON. */
  body?: unknown;
}

interface Operation {
  query: string;
  variables?: unknown;
  operationName?: unknown;
}

/** All observable effects of one request, without what differs from request to request. */
export interface Effects {
  status: number;
  /** Names and values in the order of arrival. */
  headers: string[];
  body: string;
  /** Requests to the service, sorted, because lookups run concurrently. */
  calls: string[];
  log: object[];
  audit: object[];
}

const VARYING: ReadonlySet<string> = new Set(['time', 'ms', 'requestId', 'hash', 'prev', 'at', 'seq']);
/** Headers of which only the presence is compared. */
const VARYING_HEADER = /^(date|x-request-id|retry-after)$/i;

/** Parses a log line, and removes the fields that differ from request to request. */
const withoutVaryingFields = (line: string): object =>
  Object.fromEntries(Object.entries(JSON.parse(line) as object).filter(([name]) => !VARYING.has(name)));

// The original method, before the spy. The spy records which path responded, or disables the compiled path.
const { tryExecute: own } = CompiledOperationCache.prototype;
function answerOf(this: CompiledOperationCache, ...request: Parameters<typeof own>): ReturnType<typeof own> {
  return own.apply(this, request);
}
const responses = jest.spyOn(CompiledOperationCache.prototype, 'tryExecute').mockImplementation(answerOf);

/** Operation name and external id that mark operations of the harness itself. */
const MARKER = 'WholeRound';

let documents = 0;

/** Returns the operation as a document that was never sent before. */
export const asNew = (query: string): string => `${query}\n# document ${(documents += 1)}`;

/** A gateway to which the same operation is sent by Apollo's path and by the compiled path. */
export class DifferentialHarness {
  private constructor(
    readonly client: TestClient,
    readonly service: FakePaymentService,
    private readonly auditFile: string,
    readonly logLines: string[],
  ) {}

  /** Starts a gateway, and a service with the transactions of transactions.ts. */
  static async start(env: Record<string, string> = {}): Promise<DifferentialHarness> {
    const service = await testService(lookupReply);
    const DATABASE_URL = temporaryDatabase();
    const AUDIT_LOG_FILE = path.join(path.dirname(DATABASE_URL.slice('file:'.length)), 'audit.log');
    const logLines: string[] = [];
    const files = { DATABASE_URL, AUDIT_LOG_FILE };
    const settings = { ...files, PAYOUT_PREFLIGHT: 'off', RATE_LIMIT_PER_MINUTE: '0', ...env };
    const client = await testGateway(service.url, { logLines, env: settings });
    return new DifferentialHarness(client, service, AUDIT_LOG_FILE, logLines);
  }

  #auditLines(): string[] {
    return readFileSync(this.auditFile, 'utf8').split('\n').filter(Boolean);
  }

  /** Sends a request, and returns its effects and whether the compiled path responded. */
  async send(request: TestRequest): Promise<{ effects: Effects; isPrepared: boolean }> {
    const { service, logLines } = this;
    const [calls, lines, audited] = [service.requests.length, logLines.length, this.#auditLines().length];
    responses.mockClear();
    const exchanged = await exchange(this.client.url, request);
    const given = await (responses.mock.results[0]?.value as Promise<unknown>);
    if (exchanged.body.includes('"data":null')) await this.#lookupsEnded();
    const effects = {
      ...exchanged,
      calls: service.requests
        .slice(calls)
        .filter((seen) => isOf(request, seen))
        .map(({ method, path, query, body }) => [method, path, query, body].join(' '))
        .sort(),
      log: logLines
        .slice(lines)
        .filter((line) => !line.includes(MARKER))
        .map(withoutVaryingFields),
      audit: this.#auditLines().slice(audited).map(withoutVaryingFields),
    };
    return { effects, isPrepared: given !== undefined && given !== null };
  }

  /** A response whose data is null may arrive before its lookups have ended, or even begun. */
  async #lookupsEnded(): Promise<void> {
    const count = (): number => this.service.requests.filter(({ query }) => !query.includes(MARKER)).length;
    // A request through gateway, journal and service.
    const query = `query ${MARKER} { attempts(channel: "${CHANNEL}", first: 1) { __typename }
      payment(channel: "${CHANNEL}", externalId: "${MARKER}") { __typename } }`;
    for (let before = -1; before !== count();) {
      before = count();
      await exchange(this.client.url, { body: { query: asNew(query) } });
      await until(async () => (await this.#inFlight()) === 0);
    }
  }

  /** Returns the number of requests to the service that are in flight or queued. */
  async #inFlight(): Promise<number> {
    const page = await (await fetch(`${this.client.gateway.url}/metrics`)).text();
    const gauges = [...page.matchAll(/^paygraph_service_requests_(?:in_flight|queued)\{.*\} (\d+)$/gm)];
    expect(gauges).not.toHaveLength(0);
    return gauges.reduce((sum, [, calls]) => sum + Number(calls), 0);
  }

  /** Sends a request while the compiled path is disabled. */
  async sendToApollo(request: TestRequest): Promise<Effects> {
    responses.mockImplementation(() => Promise.resolve(null));
    try {
      return (await this.send(request)).effects;
    } finally {
      responses.mockImplementation(answerOf);
    }
  }

  /** Sends the operation as a new document, which Apollo serves. */
  async byApollo(operation: Operation): Promise<Effects> {
    const body = { ...operation, query: asNew(operation.query) };
    const { effects, isPrepared } = await this.send({ body });
    expect(isPrepared).toBe(false);
    return effects;
  }

  /** Sends the operation twice, after which it is compiled. */
  async prepare(body: Operation): Promise<void> {
    await this.send({ body });
    await this.send({ body });
  }

  async byPrepared(body: Operation, headers: TestRequest['headers'] = {}): Promise<Effects> {
    const { effects, isPrepared } = await this.send({ headers, body });
    expect(isPrepared).toBe(true);
    return effects;
  }

  /** Sends the operation by both paths, and expects the same effects. */
  async expectSame(operation: Operation): Promise<Effects> {
    const byApollo = await this.byApollo(operation);
    await this.prepare(operation);
    const byPrepared = await this.byPrepared(operation);
    expect(byPrepared).toEqual(byApollo);
    return byPrepared;
  }
}

/** Whether `request` caused this request to the service. If not, an earlier request did, by a retry or recheck. */
function isOf(request: TestRequest, { method, query }: ReceivedRequest): boolean {
  const operation = JSON.stringify(request).toLowerCase();
  if (query.includes(MARKER)) return false;
  const ids = [...query.matchAll(/_id=([^&]*)/g)].map(([, id = '']) => decodeURIComponent(id).toLowerCase());
  return method === 'POST' || /\bnode\b/.test(operation) || ids.some((id) => operation.includes(id));
}

/** Sends exactly this request, and reads the raw headers. */
async function exchange(url: string, { method = 'POST', search = '', headers, body }: TestRequest) {
  const all = Object.entries({ ...AUTHORIZED, 'content-type': 'application/json', ...headers });
  const sent = request(`${url}${search}`, {
    method,
    headers: Object.fromEntries(all.filter(([, value]) => value !== undefined)) as OutgoingHttpHeaders,
  });
  sent.end(body === undefined || typeof body === 'string' ? body : JSON.stringify(body));
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const text = (await response.setEncoding('utf8').toArray()).join('');
  return {
    status: response.statusCode ?? 0,
    headers: response.rawHeaders.map((part, place, parts) =>
      place % 2 === 1 && VARYING_HEADER.test(parts[place - 1] ?? '') ? '-' : part,
    ),
    body: text
      .replace(/"requestId":"[0-9a-f-]{36}"/g, '"requestId":"-"')
      .replace(/"retryAfterMs":\d+/g, '"retryAfterMs":0'),
  };
}
