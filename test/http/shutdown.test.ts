import { Wire, postText, requestText } from '../attack/wire';
import { FaultyService } from '../exactly-once/service/faulty-service';
import { createInput, type End } from '../exactly-once/support/caller';
import { gate, until } from '../exactly-once/support/gate';
import { Program } from '../exactly-once/support/program';
import { newKey } from '../exactly-once/support/rig';
import { openStore, type Store } from '../exactly-once/support/stores';
import { AUTHORIZED } from '../support/credentials';
import { closeAfterTests } from '../support/gateway';

// A start may have to compile first, and other tests run beside this one.
jest.setTimeout(180_000);

const authorization = `Authorization: ${AUTHORIZED.authorization}`;

let store: Store;
let service: FaultyService;

beforeEach(async () => {
  const opened = await openStore('SQLite');
  store = closeAfterTests({ ...opened, close: () => opened.drop() });
  service = closeAfterTests(await FaultyService.start());
});

async function start(env: Record<string, string> = {}): Promise<Program> {
  const program = await Program.start({
    serviceUrl: service.url,
    databaseUrl: store.url,
    env: { SERVICE_TIMEOUT_MS: '60000', ...env },
  });
  closeAfterTests({ close: () => program.kill() });
  return program;
}

const base = (program: Program): string => program.url.replace(/\/graphql$/, '');

const stopping = (program: Program): Promise<string> =>
  until(
    () => program.output(),
    (output) => output.includes('"msg":"stopping"'),
  );

/** Creates that the service keeps to itself until it is told to go on. */
async function underWay(program: Program, count: number) {
  const hold = gate();
  service.plan((purpose) => (purpose === 'create-payment' ? { acts: true, first: hold.opened } : undefined));
  const keys = Array.from({ length: count }, newKey);
  const calls = keys.map((key) => program.create('payment', key).catch((): End => ({ error: 'CUT' })));
  await until(
    () => service.asked('create-payment').length,
    (asked) => asked === count,
  );
  return { keys, calls, release: hold.open };
}

/** What answers there: a status, or "refused" where nobody does any more. */
const knock = (url: string): Promise<number | 'refused'> =>
  fetch(url).then(
    ({ status }) => status,
    () => 'refused',
  );

test('SIGTERM: it is not ready any more, what is under way is answered, and the exit code is 0', async () => {
  const program = await start();
  expect(await knock(`${base(program)}/readyz`)).toBe(200);
  const { keys, calls, release } = await underWay(program, 25);
  program.signal('SIGTERM');
  await stopping(program);
  expect([503, 'refused']).toContain(await knock(`${base(program)}/readyz`));
  const before = service.seen.length;
  const late = await program.create('payment', newKey()).catch((): End => ({ error: 'CUT' }));
  expect(late.result).toBeUndefined();
  expect(service.seen).toHaveLength(before);
  release();
  const ends = await Promise.all(calls);
  expect(ends.map(({ result }) => result)).toEqual(keys.map(() => 'PaymentSuccess'));
  expect(await program.exited).toBe(0);
  const rows = await store.rows('SELECT outcome FROM attempts');
  expect(rows.map(({ outcome }) => outcome)).toEqual(keys.map(() => 'succeeded'));
});

test('SIGTERM: a request behind one that is under way is refused, and the answer before it comes whole', async () => {
  const program = await start();
  const hold = gate();
  service.plan(() => ({ acts: true, first: hold.opened }));
  const headers = [`Host: ${new URL(program.url).host}`, authorization];
  const query = 'mutation ($input: CreatePaymentInput!) { createPayment(input: $input) { __typename } }';
  const body = JSON.stringify({ query, variables: { input: createInput('payment', newKey()) } });
  const wire = await Wire.open(program.url);
  wire.write(postText(body, headers));
  await until(
    () => service.seen.length,
    (count) => count === 1,
  );
  program.signal('SIGTERM');
  await stopping(program);
  const second = newKey();
  const input = createInput('payment', second);
  wire.write(postText(JSON.stringify({ query, variables: { input } }), headers));
  hold.open();
  const [first, refused] = await wire.end();
  expect(JSON.parse(first?.body ?? '')).toEqual({
    data: { createPayment: { __typename: 'PaymentSuccess' } },
  });
  expect([undefined, 503]).toContain(refused?.status);
  expect(await program.exited).toBe(0);
  expect(service.created(second)).toHaveLength(0);
});

describe('SIGTERM: clients that have nothing under way hold nothing up', () => {
  test.each([
    ['have just connected', ''],
    ['are in the middle of their headers', 'POST /graphql HTTP/1.1\r\nHost: '],
    ['wait for their next request', requestText('GET /healthz HTTP/1.1', ['Host: a'])],
    [
      'are in the middle of their body',
      requestText('POST /graphql HTTP/1.1', [
        'Host: a',
        authorization,
        'Content-Type: application/json',
        'Content-Length: 1000',
      ]),
    ],
  ])('those that %s', async (_what, text) => {
    // More than this test may take: whoever waits for these clients waits too long.
    const program = await start({ SHUTDOWN_GRACE_MS: '600000', CLIENT_TIMEOUT_MS: '300000' });
    const wires = await Promise.all(Array.from({ length: 10 }, () => Wire.open(program.url)));
    for (const wire of wires) wire.write(text);
    // A request of its own that came later has been answered: so the others have arrived.
    expect(await knock(`${base(program)}/healthz`)).toBe(200);
    program.signal('SIGTERM');
    expect(await program.exited).toBe(0);
    wires.forEach((wire) => wire.close());
  });
});

describe('When work is cut off', () => {
  /** The journal is whole, nothing is forgotten, and the next gateway finds what the service did. */
  async function expectNothingLost(keys: readonly string[]): Promise<void> {
    expect(await store.rows('PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    const rows = await store.rows('SELECT key, outcome FROM attempts');
    expect(rows.map(({ key }) => key).sort()).toEqual([...keys].sort());
    for (const { outcome } of rows) expect(['in_progress', 'unknown']).toContain(outcome);
    const next = await start();
    for (const key of keys) {
      const end = await until(
        () => next.create('payment', key),
        ({ result }) => result === 'PaymentSuccess',
      );
      expect(end).toMatchObject({ replayed: true, transactionId: service.created(key)[0]?.transactionId });
      expect(service.created(key)).toHaveLength(1);
    }
  }

  test('by a second signal, the exit code says so, and the journal knows what is not known', async () => {
    const program = await start({ SHUTDOWN_GRACE_MS: '600000' });
    const { keys, calls, release } = await underWay(program, 5);
    program.signal('SIGTERM');
    await stopping(program);
    program.signal('SIGTERM');
    expect(await program.exited).toBe(1);
    expect(await Promise.all(calls)).toEqual(keys.map(() => ({ error: 'CUT' })));
    release();
    await expectNothingLost(keys);
  });

  test('by the end of the grace, the exit code says so, and the journal knows what is not known', async () => {
    const program = await start({ SHUTDOWN_GRACE_MS: '200' });
    const { keys, calls, release } = await underWay(program, 5);
    program.signal('SIGTERM');
    expect(await program.exited).toBe(1);
    expect(await Promise.all(calls)).toEqual(keys.map(() => ({ error: 'CUT' })));
    release();
    await expectNothingLost(keys);
  });
});
