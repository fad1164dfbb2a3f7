import { readFileSync } from 'node:fs';
import path from 'node:path';
import { CompiledOperationCache } from '../../../src/http/compiled/compiled-operation-cache';
import { until } from '../../support/latch';
import { CHANNEL, temporaryDatabase, testGateway, type TestClient, testService } from '../../support/gateway';
import {
  type FakePaymentService,
  type ReceivedRequest,
} from '../../support/payment-service/fake-payment-service';
import { exchange, type TestRequest, type ComparableResponse } from './exchange';
import { lookupReply } from './transactions';

export interface Operation {
  query: string;
  variables?: unknown;
  operationName?: unknown;
  extensions?: unknown;
}

/** All observable effects of one request. */
export interface Effects extends ComparableResponse {
  /** Requests to the service, sorted, because lookups run concurrently. */
  calls: string[];
  log: object[];
  audit: object[];
}

const VARYING: ReadonlySet<string> = new Set(['time', 'ms', 'requestId', 'hash', 'prev', 'at', 'seq']);

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

  /** Starts a gateway and, unless given, a service with the transactions of transactions.ts. */
  static async start(
    env: Record<string, string> = {},
    service?: FakePaymentService,
  ): Promise<DifferentialHarness> {
    const own = service ?? (await testService(lookupReply));
    const DATABASE_URL = temporaryDatabase();
    const AUDIT_LOG_FILE = path.join(path.dirname(DATABASE_URL.slice('file:'.length)), 'audit.log');
    const logLines: string[] = [];
    const client = await testGateway(own.url, {
      logLines,
      env: {
        ...{ DATABASE_URL, AUDIT_LOG_FILE },
        // The gateway sends no lookups on its own.
        ...{ PAYOUT_PREFLIGHT: 'off', FOLLOW_DAYS: '0', RATE_LIMIT_PER_MINUTE: '0' },
        ...env,
      },
    });
    return new DifferentialHarness(client, own, AUDIT_LOG_FILE, logLines);
  }

  auditLines(): string[] {
    return readFileSync(this.auditFile, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  }

  /** Sends a request, and returns its effects and whether the compiled path responded. */
  async send(request: TestRequest): Promise<{ effects: Effects; isPrepared: boolean }> {
    const { service, logLines } = this;
    const [calls, lines, audited] = [service.requests.length, logLines.length, this.auditLines().length];
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
      audit: this.auditLines().slice(audited).map(withoutVaryingFields),
    };
    return { effects, isPrepared: given !== undefined && given !== null };
  }

  /** A response whose data is null may arrive before its lookups have ended, or even begun. */
  async #lookupsEnded(): Promise<void> {
    const count = (): number => this.service.requests.filter(({ query }) => !query.includes(MARKER)).length;
    for (let before = -1; before !== count();) {
      before = count();
      await this.#round();
    }
  }

  /** Sends a request through gateway, journal and service, and waits until none is in flight. */
  async #round(): Promise<void> {
    const query = `query ${MARKER} { attempts(channel: "${CHANNEL}", first: 1) { __typename }
      payment(channel: "${CHANNEL}", externalId: "${MARKER}") { __typename } }`;
    await exchange(this.client.url, { body: { query: asNew(query) } });
    await until(async () => (await this.#inFlight()) === 0);
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
  async byApollo(operation: Operation, headers: TestRequest['headers'] = {}): Promise<Effects> {
    const { effects, isPrepared } = await this.send({
      headers,
      body: { ...operation, query: asNew(operation.query) },
    });
    expect(isPrepared).toBe(false);
    return effects;
  }

  /** Sends the operation twice, after which it is compiled. */
  async prepare(operation: Operation, headers: TestRequest['headers'] = {}): Promise<void> {
    await this.send({ headers, body: operation });
    await this.send({ headers, body: operation });
  }

  async byPrepared(operation: Operation, headers: TestRequest['headers'] = {}): Promise<Effects> {
    const { effects, isPrepared } = await this.send({ headers, body: operation });
    expect(isPrepared).toBe(true);
    return effects;
  }

  /** Sends the operation by both paths, and expects the same effects. */
  async expectSame(operation: Operation, headers: TestRequest['headers'] = {}): Promise<Effects> {
    const byApollo = await this.byApollo(operation, headers);
    await this.prepare(operation, headers);
    const byPrepared = await this.byPrepared(operation, headers);
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
