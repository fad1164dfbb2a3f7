import { DatabaseSync } from 'node:sqlite';
import { temporaryDatabase, testGateway, type TestClient, testService } from '../support/gateway';
import {
  type Reply,
  type FakePaymentService,
  type ReceivedRequest,
} from '../support/payment-service/fake-payment-service';

/** The fixed time of the gateway. */
const NOW_MS = 1_717_146_765_999;

/** A gateway with a fixed clock, and a scripted service. */
export interface MethodHarness {
  gateway: TestClient;
  service: FakePaymentService;
  /** Sets the responses to POST and GET, and clears the recorded requests and attempts. */
  respond(script: { post?: Reply; get?: Reply }): void;
  /** Returns the requests with this HTTP method since `respond`. */
  sent(method: 'POST' | 'GET'): ReceivedRequest[];
}

/** Deletes recorded attempts, because the golden bodies reuse keys and transaction ids. */
function forgetAttempts(database: string): void {
  const journal = new DatabaseSync(database.replace('file:', ''), { timeout: 1000 });
  journal.exec(
    'DELETE FROM stored_attempts; DELETE FROM reserved_external_ids; DELETE FROM confirms; DELETE FROM confirmed;',
  );
  journal.close();
}

const UNEXPECTED: Reply = { status: 500, json: { message: 'The test expects no such request.' } };

export async function openHarness(): Promise<MethodHarness> {
  const service = await testService();
  const database = temporaryDatabase();
  const env = { DATABASE_URL: database, PAYOUT_PREFLIGHT: 'off' };
  const gateway = await testGateway(service.url, { now: () => NOW_MS, env });
  return {
    gateway,
    service,
    respond: ({ post = UNEXPECTED, get = UNEXPECTED }) => {
      service.requests.splice(0);
      forgetAttempts(database);
      service.respond(({ method }) => (method === 'POST' ? post : get));
    },
    sent: (method) => service.requests.filter((request) => request.method === method),
  };
}
