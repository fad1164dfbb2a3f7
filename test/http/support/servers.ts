import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { closeAfterTests, testGateway, type TestClient } from '../../support/gateway';
import { FakePaymentService } from '../../support/payment-service/fake-payment-service';

/** A gateway and a service with a ledger, with the gateway's log. */
export interface Server {
  client: TestClient;
  base: string;
  service: FakePaymentService;
  logLines: string[];
  auditText(): string;
}

/** Starts both. Payouts have no preflight lookup. */
export async function startServer(env: Record<string, string> = {}): Promise<Server> {
  const logLines: string[] = [];
  const folder = mkdtempSync(path.join(tmpdir(), 'paygraph-audit-'));
  closeAfterTests({ close: async () => rmSync(folder, { recursive: true, force: true }) });
  const AUDIT_LOG_FILE = path.join(folder, 'audit.log');
  const service = closeAfterTests(await FakePaymentService.start());
  const settings = { PAYOUT_PREFLIGHT: 'off', AUDIT_LOG_FILE, ...env };
  const client = await testGateway(service.url, { logLines, env: settings });
  const auditText = (): string => readFileSync(AUDIT_LOG_FILE, 'utf8');
  return { client, base: client.gateway.url, service, logLines, auditText };
}

export function auditedCalls(server: Server, key: string): { ip?: string; outcome: string; who: string }[] {
  return server
    .auditText()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { event: string; key?: string; outcome: string; who: string })
    .filter((line) => line.event === 'call' && line.key === key);
}
