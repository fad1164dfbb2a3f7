import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { temporaryFolder } from '../audit/support/files';
import { FaultyService } from '../exactly-once/service/faulty-service';
import type { End } from '../exactly-once/support/caller';
import { gate, until, type Gate } from '../exactly-once/support/gate';
import { describeSqlite, newKey } from '../exactly-once/support/rig';
import { openStore } from '../exactly-once/support/stores';
import { startProgram } from '../gateway/fixtures/program';
import { closeAfterTests, testSettings } from '../support/gateway';
import { WorkersGateway, linesTo } from './support/gateway';

// A start may have to compile first, and other tests run beside this one.
jest.setTimeout(180_000);

describeSqlite('Workers that have work under way', (rigs) => {
  let gateway: WorkersGateway;
  let service: FaultyService;
  let hold: Gate;
  let ends: Promise<End | 'cut'>[];

  /** Two workers, each with a create that the service does not answer yet. */
  async function startWithWork(env: Record<string, string> = {}): Promise<void> {
    const store = await openStore('SQLite');
    service = await FaultyService.start();
    gateway = await WorkersGateway.start(2, {
      serviceUrl: service.url,
      databaseUrl: store.url,
      env: { SERVICE_TIMEOUT_MS: '60000', ...env },
    });
    rigs.closeAtEnd(() => store.drop());
    rigs.closeAtEnd(() => service.close());
    rigs.closeAtEnd(() => gateway.kill());
    hold = gate();
    service.plan((purpose) =>
      purpose === 'create-payment' ? { acts: true, first: hold.opened } : undefined,
    );
    const lines = await gateway.lines();
    ends = lines.map((line) => line.create('payment', newKey()).catch(() => 'cut'));
    await until(
      () => service.asked('create-payment'),
      (asked) => asked.length === 2,
    );
  }

  const results = async (): Promise<unknown[]> =>
    (await Promise.all(ends)).map((end) => (end === 'cut' ? end : end.result));
  const said = (what: RegExp): Promise<unknown> =>
    until(
      () => gateway.program.output(),
      (output) => what.test(output),
    );

  test.each(['SIGTERM', 'SIGINT'] as const)(
    'end it when all processes get %s at once, as from a terminal, and the exit code is 0',
    async (signal) => {
      await startWithWork();
      gateway.pids.forEach((pid) => process.kill(pid, signal));
      gateway.program.signal(signal);
      await said(/"msg":"stopping"/);
      hold.open();
      expect(await results()).toEqual(['PaymentSuccess', 'PaymentSuccess']);
      expect(await gateway.program.exited).toBe(0);
      await gateway.isGone();
      expect(gateway.program.output()).toMatch(/"msg":"stopped"/);
      expect(gateway.program.output()).not.toMatch(/is replaced/);
    },
  );

  test('are cut off after the grace, with another exit code', async () => {
    await startWithWork({ SHUTDOWN_GRACE_MS: '300' });
    gateway.program.signal('SIGTERM');
    expect(await results()).toEqual(['cut', 'cut']);
    expect(await gateway.program.exited).toBe(1);
    await gateway.isGone();
  });

  test('are cut off by a second signal', async () => {
    await startWithWork({ SHUTDOWN_GRACE_MS: '600000' });
    gateway.program.signal('SIGTERM');
    await said(/"msg":"stopping"/);
    gateway.program.signal('SIGTERM');
    expect(await results()).toEqual(['cut', 'cut']);
    expect(await gateway.program.exited).toBe(1);
    await gateway.isGone();
  });

  test('end it when the first process is killed, and are gone then', async () => {
    await startWithWork();
    await gateway.program.kill();
    hold.open();
    expect(await results()).toEqual(['PaymentSuccess', 'PaymentSuccess']);
    await gateway.isGone();
  });

  test('are gone after the grace when the first process is killed and their work does not end', async () => {
    await startWithWork({ SHUTDOWN_GRACE_MS: '300' });
    await gateway.program.kill();
    expect(await results()).toEqual(['cut', 'cut']);
    await gateway.isGone();
  });
});

describe('Workers that cannot start', () => {
  const badKeys = (): string => {
    const file = path.join(temporaryFolder(), 'clients.json');
    writeFileSync(file, '{');
    return file;
  };

  test.each([
    [
      'what only a worker finds',
      () => ({ CLIENT_KEYS_FILE: badKeys() }),
      /CLIENT_KEYS_FILE: it is not JSON\./g,
    ],
    ['their number', () => ({ WORKERS: '65' }), /WORKERS: expected a whole number from 1 to 64\./g],
  ])('end the program, which says once why: %s', async (_what, settings, why) => {
    const program = startProgram({
      PORT: '0',
      SANDBOX_PORT: '0',
      ...testSettings(),
      WORKERS: '4',
      ...settings(),
    });
    expect(await program.exited).toBe(1);
    expect(program.output().match(why)).toHaveLength(1);
    expect(program.output()).not.toMatch(/^\s+at /m);
  });

  test('say once that the port is in use', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    closeAfterTests({ close: async () => void taken.close() });
    const { port } = taken.address() as AddressInfo;
    const program = startProgram({ ...testSettings(), PORT: String(port), SANDBOX_PORT: '0', WORKERS: '3' });
    expect(await program.exited).toBe(1);
    expect(program.output().match(/Port \d+ is in use/g)).toEqual([`Port ${port} is in use`]);
  });
});

test('Workers have one embedded sandbox between them: what one creates another finds, and replays', async () => {
  const program = startProgram({ PORT: '0', SANDBOX_PORT: '0', ...testSettings(), WORKERS: '2' });
  await program.printed(/Stop with Ctrl\+C/);
  expect(program.output().match(/paygraph is listening/g)).toHaveLength(1);
  const [, url = ''] = await program.printed(/"url":"(http[^"]+)"[^\n]*"msg":"listening"/);
  const [one, two] = await linesTo(program, url);
  const key = newKey();
  const first = await one.create('payment', key);
  expect(first).toMatchObject({ result: 'PaymentSuccess', replayed: false });
  expect(await two.create('payment', key)).toMatchObject({
    replayed: true,
    transactionId: first.transactionId,
  });
  program.signal('SIGTERM');
  expect(await program.exited).toBe(0);
});
