import { readFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../../support/cleanup';
import { loggedGateway, type LoggedGateway } from '../../support/gateway';

/** A gateway with its log lines and audit log, and a service with a ledger. */
export interface Server extends LoggedGateway {
  base: string;
  auditText(): string;
}

/** Starts gateway and service. Payouts have no preflight lookup. */
export async function startServer(env: Record<string, string> = {}): Promise<Server> {
  const AUDIT_LOG_FILE = path.join(temporaryFolder(), 'audit.log');
  const parts = await loggedGateway(() => undefined, { AUDIT_LOG_FILE, ...env });
  const auditText = (): string => readFileSync(AUDIT_LOG_FILE, 'utf8');
  return { ...parts, base: parts.client.gateway.url, auditText };
}
