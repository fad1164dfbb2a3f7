import path from 'node:path';
import { pino } from 'pino';
import { systemClock } from '../../../src/shared/clock';
import { readConfig, SANDBOX_CREDENTIALS } from '../../../src/config';
import { startGateway } from '../../../src/app/gateway';
import { openWithLongTimeout, temporaryDatabase } from '../../support/gateway';

/** Starts a gateway without a real service and without authentication. `sandboxUrl` replaces the embedded sandbox. */
export async function startOpenGateway(sandboxUrl: string, env: Record<string, string> = {}) {
  const DATABASE_URL = temporaryDatabase();
  const config = readConfig({
    DATABASE_URL,
    AUDIT_LOG_FILE: path.join(path.dirname(DATABASE_URL.slice('file:'.length)), 'audit.log'),
    MAX_EVENT_LOOP_LAG_MS: '0',
    PORT: '0',
    ...env,
  });
  const service = { ...config.service, ...SANDBOX_CREDENTIALS, baseUrl: sandboxUrl };
  return startGateway({ ...config, service }, pino({ level: 'silent' }), systemClock, {
    openJournal: openWithLongTimeout,
  });
}
