import { DatabaseSync } from 'node:sqlite';
import { temporaryDatabase, testGateway, type TestClient, testService } from '../support/gateway';
import {
  type Reply,
  type FakePaymentService,
  type ReceivedRequest,
} from '../support/payment-service/fake-payment-service';

/** The moment at which everything on a bench happens. */
export const NOW_MS = 1_717_146_765_999;

/** A gateway before a service that answers as the test says; no time passes in the gateway. */
export interface Bench {
  gateway: TestClient;
  service: FakePaymentService;
  /** Sets how POST and GET are answered, and forgets what was sent before. */
  answers(script: { post?: Reply; get?: Reply }): void;
  /** What was sent with this HTTP method since then. */
  sent(method: 'POST' | 'GET'): ReceivedRequest[];
}

/** The golden bodies use the same keys and transaction ids again and again, each time as if for the first time. */
function forgetAttempts(database: string): void {
  const journal = new DatabaseSync(database.replace('file:', ''), { timeout: 1000 });
  journal.exec(
    'DELETE FROM attempts; DELETE FROM reservations; DELETE FROM confirms; DELETE FROM confirmed;',
  );
  journal.close();
}

const UNEXPECTED: Reply = { status: 500, json: { message: 'The test expects no such request.' } };

export async function openBench(): Promise<Bench> {
  const service = await testService();
  const database = temporaryDatabase();
  const env = { DATABASE_URL: database, PAYOUT_PREFLIGHT: 'off' };
  const gateway = await testGateway(service.url, { now: () => NOW_MS, env });
  return {
    gateway,
    service,
    answers: ({ post = UNEXPECTED, get = UNEXPECTED }) => {
      service.requests.splice(0);
      forgetAttempts(database);
      service.respond(({ method }) => (method === 'POST' ? post : get));
    },
    sent: (method) => service.requests.filter((request) => request.method === method),
  };
}
