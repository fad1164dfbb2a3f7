import path from 'node:path';
import { CHECKOUT, listening, startProgram, type Program } from '../gateway/fixtures/program';
import { closeAfterTests, testSettings } from '../support/gateway';
import { AUTHORIZED } from '../support/credentials';
import { FaultyService } from '../exactly-once/service/faulty-service';
import { until } from '../exactly-once/support/gate';
import { startCollector } from './support/collector';

// A start may have to compile first, and other tests run beside this one.
jest.setTimeout(180_000);

const LOADED = path.join(__dirname, 'support/loaded-modules.cjs');

async function start(env: Record<string, string> = {}): Promise<{ program: Program; url: string }> {
  const service = closeAfterTests(await FaultyService.start());
  const settings = {
    ...testSettings(),
    PORT: '0',
    SERVICE_BASE_URL: service.url,
    SERVICE_API_KEY: 'api-key',
    SERVICE_SECRET_KEY: 'secret-key',
    SHUTDOWN_GRACE_MS: '120000',
    ...env,
  };
  const program = startProgram(settings, CHECKOUT, ['--require', LOADED]);
  return { program, url: `${await listening(program)}/graphql` };
}

const ask = async (url: string): Promise<unknown> => {
  // Each over a connection of its own, which may lead to another worker.
  const headers = { 'content-type': 'application/json', connection: 'close', ...AUTHORIZED };
  const response = await fetch(url, {
    method: 'POST',
    headers,
    body: '{"query":"query Asked { __typename }"}',
  });
  return response.json();
};

async function loadedIn(program: Program): Promise<string[]> {
  program.signal('SIGUSR2');
  const [, names = ''] = await program.printed(/loaded: (\[.*\])/);
  return JSON.parse(names) as string[];
}

test('Where nothing is traced nothing is loaded that could trace, and log lines name no spans', async () => {
  const { program, url } = await start({ OTEL_TRACES_SAMPLER: 'always_on' });
  await ask(url);
  // Its interface may be: it does nothing, and metrics know it too.
  expect((await loadedIn(program)).filter((name) => name !== '@opentelemetry/api')).toEqual([]);
  program.signal('SIGTERM');
  expect(await program.exited).toBe(0);
  expect(program.output()).not.toContain('trace_id');
});

test('Where there is a collector, the program sends what is left when it is told to stop', async () => {
  const collector = await startCollector();
  const { program, url } = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
  await ask(url);
  expect(await loadedIn(program)).toContain('@opentelemetry/sdk-trace');
  program.signal('SIGTERM');
  expect(await program.exited).toBe(0);
  expect(collector.spans().map(({ name }) => name)).toEqual(['query Asked']);
  expect(program.output()).toContain(`"trace_id":"${collector.spans()[0]?.traceId}"`);
});

test('Of several workers each sends its spans', async () => {
  const collector = await startCollector();
  const { program, url } = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, WORKERS: '2' });
  const pidsThatAnswered = (): number =>
    new Set(program.output().match(/"pid":\d+(?=[^\n]*"msg":"operation")/g)).size;
  await until(
    async () => {
      await ask(url);
      return pidsThatAnswered();
    },
    (count) => count === 2,
  );
  program.signal('SIGTERM');
  expect(await program.exited).toBe(0);
  const resources = collector.spans().map(({ resource }) => resource);
  expect(new Set(resources.map((resource) => resource['service.instance.id'])).size).toBe(2);
  expect(new Set(resources.map((resource) => resource['process.pid'])).size).toBe(2);
});
