import path from 'node:path';
import process from 'node:process';
import { until } from '../exactly-once/support/gate';
import { Program } from '../exactly-once/support/program';
import { openStore, postgresAnswers } from '../exactly-once/support/stores';
import { freePort } from '../support/free-port';
import { closeAfterTests, testSandbox } from '../support/gateway';
import { describeWhere, envOf, lacking, openFolder } from './support/files';
import { MixedLoad } from './support/mixed-load';
import { startNginx } from './support/nginx';

/** How often both instances are restarted: ROLLING_RESTARTS=20 is the long run of CONTRIBUTING.md. */
const ROUNDS = Number(process.env['ROLLING_RESTARTS'] ?? 1);

// Each restart waits for SHUTDOWN_DELAY_MS; a start may have to compile first, and other tests run beside this one.
jest.setTimeout(180_000 + ROUNDS * 120_000);

const noPostgres = postgresAnswers() ? undefined : 'SKIPPED: no PostgreSQL answers';

describeWhere(lacking('nginx') ?? noPostgres, 'A rolling restart behind nginx', () => {
  /** Two instances at addresses of their own, set as the deployment examples are, and how to restart one of them. */
  async function instances() {
    const [store, sandbox] = await Promise.all([openStore('PostgreSQL'), testSandbox()]);
    closeAfterTests({ close: () => store.drop() });
    const { SHUTDOWN_DELAY_MS = '0', SHUTDOWN_GRACE_MS = '' } = envOf('deploy/systemd/paygraph.env');
    const start = async (port: number): Promise<Program> => {
      const env = {
        PORT: String(port),
        TRUSTED_PROXIES: '127.0.0.1',
        RATE_LIMIT_PER_MINUTE: '0',
        AUDIT_LOG_FILE: path.join(openFolder(), 'audit.log'),
        SERVICE_TIMEOUT_MS: '10000',
        SHUTDOWN_DELAY_MS,
        SHUTDOWN_GRACE_MS,
      };
      const program = await Program.start({
        serviceUrl: sandbox.url,
        databaseUrl: store.url,
        env,
        isPatient: true,
      });
      return closeAfterTests(Object.assign(program, { close: () => program.kill() }));
    };
    const ports = [await freePort(), await freePort()] as const;
    const running = [await start(ports[0]), await start(ports[1])] as const;
    return { ports, programs: [...running], start };
  }

  test('fails no call of a mixed load', async () => {
    const { ports, programs, start } = await instances();
    const [first, second] = ports.map((port) => `http://127.0.0.1:${port}`) as [string, string];
    const nginx = await startNginx([first, second]);
    const load = new MixedLoad(nginx.url);
    await load.start();
    for (let round = 0; round < ROUNDS; round += 1)
      for (const [index, port] of ports.entries()) {
        programs[index]?.signal('SIGTERM');
        expect(await programs[index]?.exited).toBe(0);
        programs[index] = await start(port);
        await until(
          () => fetch(`http://127.0.0.1:${port}/readyz`).then(({ status }) => status),
          (status) => status === 200,
        );
      }
    await load.stop();
    if (ROUNDS > 1) console.info(load.succeeded);
    expect(load.failed).toEqual({});
  });
});
