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

/** What a caller asks. */
export interface Question {
  query: string;
  variables?: unknown;
  operationName?: unknown;
  extensions?: unknown;
}

/** All that can be told of one request from outside: its answer, and what it left behind. */
export interface Told extends Exchanged {
  /** What was asked of the service; in no order, as lookups go out side by side. */
  calls: string[];
  /** Lines of the log. */
  log: object[];
  /** Entries of the audit log. */
  audit: object[];
}

const OF_THE_MOMENT: ReadonlySet<string> = new Set(['time', 'ms', 'requestId', 'hash', 'prev', 'at', 'seq']);

/** A JSON object of a log without what differs from request to request. */
const lasting = (line: string): object =>
  Object.fromEntries(Object.entries(JSON.parse(line) as object).filter(([name]) => !OF_THE_MOMENT.has(name)));

// Kept before it is spied on. Calls through, and tells which way an answer came; or leaves everything to Apollo.
const { answer: own } = CompiledOperationCache.prototype;
function answerOf(this: CompiledOperationCache, ...asked: Parameters<typeof own>): ReturnType<typeof own> {
  return own.apply(this, asked);
}
const answers = jest.spyOn(CompiledOperationCache.prototype, 'answer').mockImplementation(answerOf);

/** Names what is no part of a test. */
const MARKER = 'WholeRound';

let documents = 0;

/** The same operation in a document that nobody has asked before. */
export const asNew = (query: string): string => `${query}\n# document ${(documents += 1)}`;

/** A gateway that is asked the same by Apollo's way and by the prepared way. */
export class BothWays {
  private constructor(
    readonly client: TestClient,
    readonly service: FakePaymentService,
    private readonly auditFile: string,
    readonly logLines: string[],
  ) {}

  /** A gateway before a service of its own, which has the transactions of transactions.ts. */
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

  /** What the audit log holds. */
  auditLines(): string[] {
    return readFileSync(this.auditFile, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  }

  /** Asks once, and tells all that came of it, and whether it was answered in front of Apollo. */
  async ask(asked: Asked): Promise<{ told: Told; isPrepared: boolean }> {
    const { service, logLines } = this;
    const [calls, lines, audited] = [service.requests.length, logLines.length, this.auditLines().length];
    answers.mockClear();
    const exchanged = await exchange(this.client.url, asked);
    const given = (await Promise.all(answers.mock.results.map(({ value }) => value as Promise<unknown>)))[0];
    // Where the whole answer is null it came before what had been started was done.
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

  /** A whole round through gateway and service, and until nothing that was on its way there is so any more. */
  async #round(): Promise<void> {
    const query = `query ${MARKER} { payment(channel: "${CHANNEL}", externalId: "${MARKER}") { __typename } }`;
    await exchange(this.client.url, { body: { query: asNew(query) } });
    await until(
      () => this.#underWay(),
      (calls) => calls === 0,
    );
  }

  /** How many calls to the service are under way or wait for their turn. */
  async #underWay(): Promise<number> {
    const page = await (await fetch(`${this.client.gateway.url}/metrics`)).text();
    const gauges = [...page.matchAll(/^paygraph_service_requests_(?:in_flight|queued)\{.*\} (\d+)$/gm)];
    expect(gauges).not.toHaveLength(0);
    return gauges.reduce((sum, [, calls]) => sum + Number(calls), 0);
  }

  /** Asks once, of a gateway that has nothing prepared. */
  async askApollo(asked: Asked): Promise<Told> {
    answers.mockImplementation(() => Promise.resolve(null));
    try {
      return (await this.ask(asked)).told;
    } finally {
      answers.mockImplementation(answerOf);
    }
  }

  /** The way of a document that was never asked before. */
  async byApollo(question: Question, headers: Asked['headers'] = {}): Promise<Told> {
    const { told, isPrepared } = await this.ask({
      headers,
      body: { ...question, query: asNew(question.query) },
    });
    expect(isPrepared).toBe(false);
    return told;
  }

  /** Asks twice, so that it is prepared from then on. */
  async prepare(question: Question, headers: Asked['headers'] = {}): Promise<void> {
    await this.ask({ headers, body: question });
    await this.ask({ headers, body: question });
  }

  /** The way of a document that was asked twice. */
  async byPrepared(question: Question, headers: Asked['headers'] = {}): Promise<Told> {
    const { told, isPrepared } = await this.ask({ headers, body: question });
    expect(isPrepared).toBe(true);
    return told;
  }

  /** Asks both ways, and expects that nobody can tell. */
  async expectSame(question: Question, headers: Asked['headers'] = {}): Promise<Told> {
    const byApollo = await this.byApollo(question, headers);
    await this.prepare(question, headers);
    const byPrepared = await this.byPrepared(question, headers);
    expect(byPrepared).toEqual(byApollo);
    return byPrepared;
  }
}

/**
 * Whether a question asked for a call; calls of earlier ones may still come, as lookups that failed are tried again and what
 * is unknown is looked for. Ids are read from the question; those of nodes are written otherwise in it.
 */
function isOf(asked: Asked, { method, query }: ReceivedRequest): boolean {
  const question = JSON.stringify(asked).toLowerCase();
  if (query.includes(MARKER)) return false;
  const ids = [...query.matchAll(/_id=([^&]*)/g)].map(([, id = '']) => decodeURIComponent(id).toLowerCase());
  return method === 'POST' || /\bnode\b/.test(question) || ids.some((id) => question.includes(id));
}
