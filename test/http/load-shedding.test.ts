import { holdNext } from './support/held';
import { until } from '../exactly-once/support/gate';
import { Caller } from '../exactly-once/support/caller';
import { newKey } from '../exactly-once/support/rig';
import { post, raw, type RawResult } from '../gateway/fixtures/raw';
import { startServer, type Server } from './support/servers';

/** Holds the event loop again and again until it is stopped: the process is late with everything. */
function holdEventLoop(ms: number): { stop(): void } {
  const timer = setInterval(() => {
    const until = performance.now() + ms;
    while (performance.now() < until);
  }, 0);
  return { stop: () => clearInterval(timer) };
}

const ask = ({ base }: Server): Promise<RawResult> => post(`${base}/graphql`, '{"query":"{ __typename }"}');

describe('A gateway that is late with its work', () => {
  let server: Server;
  let late: { stop(): void };
  let refused: RawResult;
  let created: Promise<unknown>;
  const key = newKey();

  beforeAll(async () => {
    server = await startServer({ MAX_EVENT_LOOP_LAG_MS: '40', SERVICE_TIMEOUT_MS: '60000' });
    expect((await ask(server)).status).toBe(200);
    // One create is with the service when the trouble begins.
    const held = holdNext(server.service, 'create-payment');
    created = new Caller(server.base).create('payment', key);
    await held.arrived();
    late = holdEventLoop(150);
    refused = await until(
      () => ask(server),
      ({ status }) => status !== 200,
    );
    held.release();
  });

  afterAll(() => late.stop());

  test('refuses new operations for a moment', () => {
    expect(refused.status).toBe(503);
    expect(refused.data).toBeUndefined();
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('cache-control')).toMatch(/no-store/);
    expect(refused.errors).toHaveLength(1);
    expect(refused.errors?.[0]?.extensions).toEqual({
      code: 'SERVICE_UNAVAILABLE',
      retryable: true,
      retryAfterMs: 1000,
      requestId: refused.headers.get('x-request-id'),
    });
  });

  test('refuses calls that move money before anything of them was done', async () => {
    const before = server.service.seen.length;
    const other = newKey();
    expect(await new Caller(server.base).create('payment', other)).toMatchObject({
      error: 'SERVICE_UNAVAILABLE',
      retryable: true,
    });
    expect(server.service.seen).toHaveLength(before);
    expect(server.auditText()).not.toContain(other);
  });

  test.each(['/healthz', '/readyz'])('still says how it is: %s', async (path) => {
    expect((await raw(server.base + path)).status).toBe(200);
  });

  test('carries out what it had taken in', async () => {
    expect(await created).toMatchObject({ result: 'PaymentSuccess', replayed: false });
    expect(server.service.created(key)).toHaveLength(1);
  });

  test('serves again as soon as it is no longer late', async () => {
    late.stop();
    const answer = await until(
      () => ask(server),
      ({ status }) => status !== 503,
    );
    expect(answer.status).toBe(200);
    expect(await new Caller(server.base).create('payment', newKey())).toMatchObject({
      result: 'PaymentSuccess',
    });
  });
});

test('MAX_EVENT_LOOP_LAG_MS=0 refuses nothing, however late it is', async () => {
  const server = await startServer({ MAX_EVENT_LOOP_LAG_MS: '0' });
  const late = holdEventLoop(150);
  try {
    const startedAt = performance.now();
    // Longer than the time over which lateness is measured.
    while (performance.now() - startedAt < 3000) expect((await ask(server)).status).toBe(200);
  } finally {
    late.stop();
  }
});
