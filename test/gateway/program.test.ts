import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { until } from '../exactly-once/support/gate';
import { freePort } from '../support/free-port';
import { closeAfterTests, testSettings } from '../support/gateway';
import { scriptedService } from '../support/scripted-service';
import { DOCUMENTS, accepted, validCall } from './fixtures/calls';
import { gate } from './fixtures/gate';
import { CHECKOUT, listening, startProgram, type Program } from './fixtures/program';
import { post, raw } from './fixtures/raw';

// A start may have to compile first, and other tests run beside this one.
jest.setTimeout(180_000);

const ANY_PORTS = { PORT: '0', SANDBOX_PORT: '0' };
const KEYS = { SERVICE_API_KEY: 'secret-api-key-4711', SERVICE_SECRET_KEY: 'secret-secret-key-4712' };

describe('With nothing configured', () => {
  let program: Program;
  let url: string;

  beforeAll(async () => {
    program = startProgram(ANY_PORTS);
    url = await listening(program);
    await program.printed(/Stop with Ctrl\+C/);
  });

  test('the program says where gateway and sandbox listen, on this machine only', async () => {
    expect(program.output()).toContain(`${url}/graphql`);
    const [, sandbox = ''] = await program.printed(/sandbox\s+(http:\S+)/);
    for (const address of [url, sandbox]) expect(new URL(address).hostname).toBe('127.0.0.1');
    expect((await raw(`${sandbox}healthz`)).status).toBe(200);
  });

  test('the query that it prints works when it is pasted', async () => {
    const [, body = ''] = await program.printed(/-d '(\{.*\})'/);
    const { data } = await post(`${url}/graphql`, body);
    expect(data).toMatchObject({
      createPayment: { payment: { status: 'PENDING', nextAction: { url: expect.any(String) as unknown } } },
    });
  });

  test('a browser gets a page, and a tool the schema', async () => {
    const page = await raw(`${url}/graphql`, { headers: { accept: 'text/html' } });
    expect(page.headers.get('content-type')).toMatch(/text\/html/);
    expect(page.text).toContain('createPayment');
    const { data } = await post(`${url}/graphql`, '{"query":"{ __schema { queryType { name } } }"}');
    expect(data).toEqual({ __schema: { queryType: { name: 'Query' } } });
  });

  test('it ends with 0 when it is interrupted', async () => {
    program.signal('SIGINT');
    expect(await program.exited).toBe(0);
  });
});

test.each([
  ['a warning is written first', { SERVICE_API_KEY: 'key-that-is-not-used' }],
  ['nothing is wrong', {}],
])('It goes on, and can be stopped, when nobody reads its output any more: %s', async (_what, settings) => {
  const port = await freePort();
  const program = startProgram({ ...testSettings(), ...ANY_PORTS, ...settings, PORT: String(port) });
  program.stopReading();
  const url = `http://127.0.0.1:${port}`;
  await until(
    () => raw(`${url}/healthz`).catch(() => ({ status: 0 })),
    ({ status }) => status === 200,
    60_000,
  );
  // Lines of the log, at once and later.
  for (const body of ['{"query":"{ __typename }"}', '{']) await post(`${url}/graphql`, body);
  expect((await raw(`${url}/healthz`)).status).toBe(200);
  program.signal('SIGTERM');
  expect(await program.exited).toBe(0);
});

describe('On a signal', () => {
  async function withCallInFlight(settings: Record<string, string> = {}) {
    const arrived = gate(1);
    const hold = gate();
    const service = await scriptedService(async (request) => {
      arrived.arrive();
      await hold.opened;
      return accepted(request);
    });
    const program = startProgram({
      PORT: '0',
      SERVICE_BASE_URL: service.url,
      ...testSettings(),
      ...KEYS,
      ...settings,
    });
    const url = await listening(program);
    const { mutation, input } = validCall('createPayment', 'other');
    const body = JSON.stringify({ query: DOCUMENTS[mutation], variables: { input } });
    const call = post(`${url}/graphql`, body);
    await arrived.opened;
    return { program, url, call, hold };
  }

  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s: the call under way ends well, no other is taken, and the exit code is 0',
    async (signal) => {
      const { program, url, call, hold } = await withCallInFlight();
      program.signal(signal);
      await program.printed(/"msg":"stopping"/);
      const late = await post(`${url}/graphql`, '{"query":"{ __typename }"}').then(
        ({ status }) => status,
        () => 'refused',
      );
      expect([503, 'refused']).toContain(late);
      hold.open();
      expect((await call).data).toMatchObject({ createPayment: { __typename: 'PaymentSuccess' } });
      expect(await program.exited).toBe(0);
      expect(program.output()).not.toMatch(/secret-/);
    },
  );

  test('work that does not end is given up after the grace, with another exit code', async () => {
    const { program, call } = await withCallInFlight({
      SHUTDOWN_GRACE_MS: '200',
      SERVICE_TIMEOUT_MS: '60000',
    });
    const ended = call.then(
      () => 'answered',
      () => 'cut',
    );
    program.signal('SIGTERM');
    expect(await program.exited).toBe(1);
    expect(await ended).toBe('cut');
  });

  test('a second signal does not wait for the grace', async () => {
    const { program, call } = await withCallInFlight({
      SHUTDOWN_GRACE_MS: '600000',
      SERVICE_TIMEOUT_MS: '120000',
    });
    const ended = call.then(
      () => 'answered',
      () => 'cut',
    );
    program.signal('SIGTERM');
    await program.printed(/"msg":"stopping"/);
    program.signal('SIGTERM');
    expect(await program.exited).toBe(1);
    expect(await ended).toBe('cut');
  });
});

describe('A start that cannot be', () => {
  test('names files that cannot be used together with wrong settings', async () => {
    const folder = path.join(__dirname, 'fixtures');
    const program = startProgram({
      PORT: 'seventy-thousand',
      SERVICE_BASE_URL: 'https://payments.example/',
      SERVICE_API_KEY_FILE: '/nonexistent/api-key',
      SERVICE_SECRET_KEY: 'secret',
      SERVICE_CREDENTIALS_FILE: path.join(folder, 'localhost.pem'),
      CLIENT_KEYS_FILE: '/nonexistent/clients.json',
      PERSISTED_OPERATIONS: path.join(folder, 'canaries.ts'),
      DATABASE_URL: 'file:/nonexistent/deeper/journal.db',
      AUDIT_LOG_FILE: folder,
    });
    expect(await program.exited).toBe(1);
    const said = program.output();
    const named = said.split('\n').flatMap((line) => /^ {2}([A-Z_]+): .+\.$/.exec(line)?.[1] ?? []);
    expect(named.sort()).toEqual([
      'AUDIT_LOG_FILE',
      'CLIENT_KEYS_FILE',
      'DATABASE_URL',
      'PERSISTED_OPERATIONS',
      'PORT',
      'SERVICE_API_KEY_FILE',
      'SERVICE_CREDENTIALS_FILE',
    ]);
    expect(said).toContain('/nonexistent');
    expect(said).not.toMatch(/^\s+at /m);
  });

  test('names every wrong setting at once, prints none of their values, and ends with 1', async () => {
    const program = startProgram({
      HOST: 'bad host value',
      PORT: 'seventy-thousand',
      SERVICE_BASE_URL: 'http://user:hunter2@payments.example/api',
      SERVICE_API_KEY: 'secret key with blanks',
      SERVICE_SECRET_KEY_FILE: '/nonexistent/secret-path',
      SERVICE_TIMEOUT_MS: 'forever-and-a-day',
      SERVICE_NOT_FOUND_STATUS: '777777',
      DATABASE_URL: 'mysql://root:hunter2@database.example/',
      UNKNOWN_SETTLE_SECONDS: 'eventually',
      PAYOUT_PREFLIGHT: 'possibly',
      FINGERPRINT_KEY: 'fingerprint key with blanks',
      JOURNAL_RETENTION_DAYS: 'eternity',
      SANDBOX_PORT: 'minus-one',
      SANDBOX_CONTROL: 'perhaps',
      INTROSPECTION: 'sometimes',
      SHUTDOWN_DELAY_MS: 'eventually',
      SHUTDOWN_GRACE_MS: 'at-leisure',
      LOG_LEVEL: 'deafening',
    });
    expect(await program.exited).toBe(1);
    const said = program.output();
    expect(said).toContain('SERVICE_SECRET_KEY_FILE: expected a file that can be read (ENOENT).');
    const named = said.split('\n').flatMap((line) => /^ {2}([A-Z_]+): .+\.$/.exec(line)?.[1] ?? []);
    expect(named.sort()).toEqual(
      [
        'DATABASE_URL',
        'FINGERPRINT_KEY',
        'HOST',
        'CLIENT_KEYS_FILE',
        'INTROSPECTION',
        'JOURNAL_RETENTION_DAYS',
        'LOG_LEVEL',
        'PAYOUT_PREFLIGHT',
        'PORT',
        'SANDBOX_CONTROL',
        'SANDBOX_PORT',
        'SERVICE_API_KEY',
        'SERVICE_BASE_URL',
        'SERVICE_NOT_FOUND_STATUS',
        'SERVICE_SECRET_KEY_FILE',
        'SERVICE_TIMEOUT_MS',
        'SHUTDOWN_DELAY_MS',
        'SHUTDOWN_GRACE_MS',
        'UNKNOWN_SETTLE_SECONDS',
      ].sort(),
    );
    expect(said).not.toMatch(
      /hunter2|mysql|eventually|possibly|fingerprint key|eternity|secret key|secret-path|seventy|forever|777777|minus-one|perhaps|sometimes|leisure|deafening|bad host/,
    );
    expect(said).not.toMatch(/^\s+at /m);
  });

  test.each(['PORT', 'SANDBOX_PORT'])('says which port is in use: %s', async (setting) => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    closeAfterTests({ close: async () => void taken.close() });
    const { port } = taken.address() as AddressInfo;
    const program = startProgram({ ...ANY_PORTS, [setting]: String(port) });
    expect(await program.exited).toBe(1);
    expect(program.output()).toContain(`Port ${port} is in use`);
    expect(program.output()).toContain(setting);
    expect(program.output()).not.toMatch(/^\s+at /m);
  });
});

describe('Several programs from one checkout', () => {
  async function bothServe(checkout: string): Promise<void> {
    const programs = [1, 2].map(() => startProgram({ PORT: '0' }, checkout));
    const urls = await Promise.all(programs.map(listening));
    expect(new Set(urls).size).toBe(2);
    for (const url of urls) expect((await raw(`${url}/readyz`)).status).toBe(200);
    programs.forEach((program) => program.signal('SIGTERM'));
    for (const program of programs) expect(await program.exited).toBe(0);
  }

  test('start at once, each with a sandbox of its own', () => bothServe(CHECKOUT));

  test('start at once where nothing has been compiled yet', async () => {
    const checkout = mkdtempSync(path.join(tmpdir(), 'paygraph-'));
    closeAfterTests({ close: async () => rmSync(checkout, { recursive: true, force: true }) });
    for (const part of [
      'src',
      'bin',
      'scripts',
      'package.json',
      'package-lock.json',
      'tsconfig.json',
      'tsconfig.build.json',
    ]) {
      cpSync(path.join(CHECKOUT, part), path.join(checkout, part), { recursive: true });
    }
    symlinkSync(path.join(CHECKOUT, 'node_modules'), path.join(checkout, 'node_modules'));
    await bothServe(checkout);
  });
});
