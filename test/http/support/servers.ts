import { closeAfterTests, testGateway, type TestClient } from '../../support/gateway';
import { FaultyService } from '../../exactly-once/service/faulty-service';

/** A gateway before a service that remembers what it created, with everything that the gateway logs. */
export interface Server {
  client: TestClient;
  /** Without a slash at its end. */
  base: string;
  service: FaultyService;
  logLines: string[];
}

/** Starts both; they are closed when the test file ends. A payout is not looked up before it is sent. */
export async function startServer(env: Record<string, string> = {}): Promise<Server> {
  const logLines: string[] = [];
  const service = closeAfterTests(await FaultyService.start());
  const client = await testGateway(service.url, { logLines, env: { PAYOUT_PREFLIGHT: 'off', ...env } });
  return { client, base: client.gateway.url, service, logLines };
}
