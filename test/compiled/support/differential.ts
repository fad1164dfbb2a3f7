import { readFileSync } from 'node:fs';
import path from 'node:path';
import { CompiledOperationCache } from '../../../src/http/compiled/compiled-operation-cache';
import { until } from '../../support/latch';
import { CHANNEL, temporaryDatabase, testGateway, type TestClient, testService } from '../../support/gateway';
import {
  type FakePaymentService,
  type ReceivedRequest,
} from '../../support/payment-service/fake-payment-service';
import { exchange, type Asked, type Exchanged } from './exchange';
import { tellTransaction } from './transactions';

export interface Question {
  query: string;
  variables?: unknown;
  operationName?: unknown;
  extensions?: unknown;
}

/** All observable effects of one request. */
export interface Told extends Exchanged {
  /** Requests to the service, in no order, as lookups run concurrently. */
  calls: string[];
  log: object[];
  audit: object[];
}

const OF_THE_MOMENT: ReadonlySet<string> = new Set(['time', 'ms', 'requestId', 'hash', 'prev', 'at', 'seq']);

/** A log entry without fields that differ from request to request. */
const lasting = (line: string): object =>
  Object.fromEntries(Object.entries(JSON.parse(line) as object).filter(([name]) => !OF_THE_MOMENT.has(name)));

// The original, saved before it is spied on. The spy records which path responded, or disables the compiled path.
const { answer: own } = CompiledOperationCache.prototype;
function answerOf(this: CompiledOperationCache, ...asked: Parameters<typeof own>): ReturnType<typeof own> {
  return own.apply(this, asked);
}
const answers = jest.spyOn(CompiledOperationCache.prototype, 'answer').mockImplementation(answerOf);

/** A description that marks operations of the harness itself. */
const MARKER = 'WholeRound';

let documents = 0;

/** The same operation as a document that was never sent before. */
export const asNew = (query: string): string => `${query}\n# document ${(documents += 1)}`;

/** A gateway that gets the same operation by Apollo's path and by the compiled path. */
export class BothWays {
  private constructor(
    readonly client: TestClient,
    readonly service: FakePaymentService,
    private readonly auditFile: string,
    readonly logLines: string[],
  ) {}

  /** A gateway and a service with the transactions of transactions.ts. */
  static async start(env: Record<string, string> = {}, service?: FakePaymentService): Promise<BothWays> {
    const own = service ?? (await testService(tellTransaction));
    const DATABASE_URL = temporaryDatabase();
    const AUDIT_LOG_FILE = path.join(path.dirname(DATABASE_URL.slice('file:'.length)), 'audit.log');
    const logLines: string[] = [];
    const client = await testGateway(own.url, {
      logLines,
      env: { DATABASE_URL, AUDIT_LOG_FILE, PAYOUT_PREFLIGHT: 'off', RATE_LIMIT_PER_MINUTE: '0', ...env },
    });
    return new BothWays(client, own, AUDIT_LOG_FILE, logLines);
  }

  auditLines(): string[] {
    return readFileSync(this.auditFile, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  }

  /** Sends a request, and returns its effects and whether the compiled path responded. */
  async ask(asked: Asked): Promise<{ told: Told; isPrepared: boolean }> {
    const { service, logLines } = this;
    const [calls, lines, audited] = [service.requests.length, logLines.length, this.auditLines().length];
    answers.mockClear();
    const exchanged = await exchange(this.client.url, asked);
    const given = (await Promise.all(answers.mock.results.map(({ value }) => value as Promise<unknown>)))[0];
    // A response whose data is null may come before started work has ended.
    if (exchanged.body.includes('"data":null')) await this.#round();
    const told = {
      ...exchanged,
      calls: service.requests
        .slice(calls)
        .filter((seen) => isOf(asked, seen))
        .map(({ method, path, query, body }) => [method, path, query, body].join(' '))
        .sort(),
      log: logLines
        .slice(lines)
        .filter((line) => !line.includes(MARKER))
        .map(lasting),
      audit: this.auditLines().slice(audited).map(lasting),
    };
    return { told, isPrepared: given !== undefined && given !== null };
  }

  /** A request through gateway and service; resolves when no request is in flight any more. */
  async #round(): Promise<void> {
    const query = `query ${MARKER} { payment(channel: "${CHANNEL}", externalId: "${MARKER}") { __typename } }`;
    await exchange(this.client.url, { body: { query: asNew(query) } });
    await until(
      () => this.#underWay(),
      (calls) => calls === 0,
    );
  }

  /** Requests to the service that are in flight or queued. */
  async #underWay(): Promise<number> {
    const page = await (await fetch(`${this.client.gateway.url}/metrics`)).text();
    const gauges = [...page.matchAll(/^paygraph_service_requests_(?:in_flight|queued)\{.*\} (\d+)$/gm)];
    expect(gauges).not.toHaveLength(0);
    return gauges.reduce((sum, [, calls]) => sum + Number(calls), 0);
  }

  /** Sends a request while nothing is compiled. */
  async askApollo(asked: Asked): Promise<Told> {
    answers.mockImplementation(() => Promise.resolve(null));
    try {
      return (await this.ask(asked)).told;
    } finally {
      answers.mockImplementation(answerOf);
    }
  }

  /** Sends the operation as a new document. */
  async byApollo(question: Question, headers: Asked['headers'] = {}): Promise<Told> {
    const { told, isPrepared } = await this.ask({
      headers,
      body: { ...question, query: asNew(question.query) },
    });
    expect(isPrepared).toBe(false);
    return told;
  }

  /** Sends it twice, after which it is compiled. */
  async prepare(question: Question, headers: Asked['headers'] = {}): Promise<void> {
    await this.ask({ headers, body: question });
    await this.ask({ headers, body: question });
  }

  async byPrepared(question: Question, headers: Asked['headers'] = {}): Promise<Told> {
    const { told, isPrepared } = await this.ask({ headers, body: question });
    expect(isPrepared).toBe(true);
    return told;
  }

  /** Sends it by both paths, and expects the same effects. */
  async expectSame(question: Question, headers: Asked['headers'] = {}): Promise<Told> {
    const byApollo = await this.byApollo(question, headers);
    await this.prepare(question, headers);
    const byPrepared = await this.byPrepared(question, headers);
    expect(byPrepared).toEqual(byApollo);
    return byPrepared;
  }
}

/** Whether the request caused this request to the service; retries and rechecks of earlier requests may still arrive. */
function isOf(asked: Asked, { method, query }: ReceivedRequest): boolean {
  const question = JSON.stringify(asked).toLowerCase();
  if (query.includes(MARKER)) return false;
  const ids = [...query.matchAll(/_id=([^&]*)/g)].map(([, id = '']) => decodeURIComponent(id).toLowerCase());
  return method === 'POST' || /\bnode\b/.test(question) || ids.some((id) => question.includes(id));
}
