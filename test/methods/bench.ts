import { createHmac } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { API_KEY, SECRET_KEY, temporaryDatabase, testGateway, type TestClient } from '../support/gateway';
import {
  scriptedService,
  type Reply,
  type ScriptedService,
  type SeenRequest,
} from '../support/scripted-service';

/** The moment at which everything on a bench happens. */
export const NOW_MS = 1_717_146_765_999;

/** A gateway before a service that answers as the test says; no time passes in the gateway. */
export interface Bench {
  gateway: TestClient;
  service: ScriptedService;
  /** Sets how POST and GET are answered, and forgets what was sent before. */
  answers(script: { post?: Reply; get?: Reply }): void;
  /** What was sent with this HTTP method since then. */
  sent(method: 'POST' | 'GET'): SeenRequest[];
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
  const service = await scriptedService();
  const database = temporaryDatabase();
  const env = { DATABASE_URL: database, PAYOUT_PREFLIGHT: 'off' };
  const gateway = await testGateway(service.url, { now: () => NOW_MS, env });
  return {
    gateway,
    service,
    answers: ({ post = UNEXPECTED, get = UNEXPECTED }) => {
      service.seen.splice(0);
      forgetAttempts(database);
      service.answer(({ method }) => (method === 'POST' ? post : get));
    },
    sent: (method) => service.seen.filter((request) => request.method === method),
  };
}

/** Spec section 5, over the bytes that arrived. */
export function expectSigned(request: SeenRequest | undefined): void {
  if (!request) throw new Error('Nothing arrived at the service.');
  const timestamp = '1717146765';
  const data = request.method === 'GET' ? request.query : request.body;
  const signature = createHmac('sha256', SECRET_KEY).update(`${timestamp}${data}`, 'utf8').digest('hex');
  expect(request.headers).toMatchObject({
    'x-api-key': API_KEY,
    'x-timestamp': timestamp,
    'x-signature': signature,
  });
}
