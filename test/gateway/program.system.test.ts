import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { FAILING, lookupReply } from '../compiled/support/transactions';
import { TRANSACTION_ID, redirectCall } from '../support/calls';
import { AUTHORIZED, clientKeysFile } from '../support/credentials';
import { temporaryFolder } from '../support/cleanup';
import { freePort } from '../support/free-port';
import { until } from '../support/latch';
import { CHANNEL, serviceSettings, testService, testSettings } from '../support/gateway';
import type { FakePaymentService } from '../support/payment-service/fake-payment-service';
import {
  CHECKOUT,
  listening,
  startProgram,
  startWithSlowJournal,
  type ChildProgram,
} from '../support/program';
import { post, raw } from '../support/raw';

const ANY_PORTS = { PORT: '0', SANDBOX_PORT: '0' };

test('A gateway without settings prints its addresses and a working example request, and exits with 0 on SIGINT', async () => {
  const program = startProgram(ANY_PORTS);
  const url = await listening(program);
  await program.printed(/Ctrl\+C/);
  expect(program.output()).toContain(`${url}/graphql`);
  const [, sandbox = ''] = await program.printed(/sandbox\s+(http:\S+)/);
  for (const address of [url, sandbox]) expect(new URL(address).hostname).toBe('127.0.0.1');
  expect((await raw(`${sandbox}healthz`)).status).toBe(200);
  const [, body = ''] = await program.printed(/-d '(\{.*\})'/);
  const payment = { status: 'PENDING', nextAction: { url: expect.any(String) as unknown } };
  // Repeated, because a busy journal refuses creates. The key is the same.
  const { data } = await until(
    () => post(`${url}/graphql`, body),
    ({ text }) => text.includes('transactionId'),
  );
  expect(data).toMatchObject({ createPayment: { payment } });
  program.signal('SIGINT');
  expect(await program.exited).toBe(0);
});

test('A gateway whose standard output is closed still serves requests, and exits with 0 on SIGTERM', async () => {
  const port = await freePort();
  const settings = { SERVICE_API_KEY: 'key-that-is-not-used', ...ANY_PORTS, PORT: String(port) };
  const program = startProgram({ ...testSettings(), ...settings });
  program.stopReading();
  const url = `http://127.0.0.1:${port}`;
  const health = () => raw(`${url}/healthz`).catch(() => ({ status: 0 }));
  await until(health, ({ status }) => status === 200);
  for (const body of ['{"query":"{ __typename }"}', '{']) await post(`${url}/graphql`, body);
  expect((await health()).status).toBe(200);
  program.signal('SIGTERM');
  expect(await program.exited).toBe(0);
});

describe('A gateway that cannot start', () => {
  test('names every invalid setting without its value, and exits with 1', async () => {
    const folder = path.join(__dirname, 'fixtures');
    const settings = {
      AUDIT_LOG_FILE: folder,
      CLIENT_KEYS_FILE: '/nonexistent/clients.json',
      DATABASE_URL: 'file:/nonexistent/deeper/journal.db',
      FINGERPRINT_KEY: 'fingerprint key with blanks',
      HOST: 'bad host value',
      PERSISTED_OPERATIONS: path.join(folder, 'spellings.ts'),
      PORT: 'seventy-thousand',
      SERVICE_API_KEY_FILE: '/nonexistent/secret-path',
      SERVICE_BASE_URL: 'http://user:hunter2@payments.example/api',
      SERVICE_CREDENTIALS_FILE: path.join(folder, 'localhost.pem'),
      SERVICE_SECRET_KEY: 'secret key with blanks',
    };
    const program = startProgram(settings);
    expect(await program.exited).toBe(1);
    const output = program.output();
    const named = [...output.matchAll(/^ {2}([A-Z_]+): /gm)].map(([, name]) => name);
    expect(named.sort()).toEqual(Object.keys(settings));
    expect(output).not.toMatch(/hunter2|fingerprint key|seventy|secret key|secret-path|bad host|^\s+at /m);
  });

  test('names the port that is in use, and exits with 1', async () => {
    const taken = await testService();
    const { port } = new URL(taken.url);
    const program = startProgram({ ...ANY_PORTS, SANDBOX_PORT: port });
    expect(await program.exited).toBe(1);
    expect(program.output()).toContain(port);
    expect(program.output()).toContain('SANDBOX_PORT');
    expect(program.output()).not.toMatch(/^\s+at /m);
  });
});

describe('Two gateways in one checkout', () => {
  test('can be compiled concurrently', async () => {
    const checkout = temporaryFolder();
    for (const part of ['bin', 'scripts', 'package.json', 'tsconfig.json', 'tsconfig.build.json'])
      cpSync(path.join(CHECKOUT, part), path.join(checkout, part), { recursive: true });
    symlinkSync(path.join(CHECKOUT, 'node_modules'), path.join(checkout, 'node_modules'));
    // A small program, because a build of the gateway takes seconds.
    mkdirSync(path.join(checkout, 'src/cli'), { recursive: true });
    const source = "export const main = (): void => void process.stdout.write('compiled');\n";
    writeFileSync(path.join(checkout, 'src/cli/main.ts'), source);
    const programs = [1, 2].map(() => startProgram({}, checkout));
    for (const program of programs) {
      expect(await program.exited).toBe(0);
      expect(program.output()).toBe('compiled');
    }
    expect(readdirSync(checkout).filter((name) => name.startsWith('dist'))).toEqual(['dist']);
  });

  test('can be started concurrently, each with its own sandbox', async () => {
    const folder = temporaryFolder();
    symlinkSync(path.join(CHECKOUT, 'bin'), path.join(folder, 'bin'));
    const programs = [1, 2].map(() => startProgram({ PORT: '0' }, folder));
    const urls = await Promise.all(programs.map(listening));
    expect(new Set(urls).size).toBe(2);
    for (const url of urls) await until(async () => (await raw(`${url}/readyz`)).status === 200);
    const printed = await Promise.all(programs.map((program) => program.printed(/sandbox\s+(http:\S+)/)));
    expect(new Set(printed.map(([, address]) => address)).size).toBe(2);
    programs.forEach((program) => program.signal('SIGTERM'));
    for (const program of programs) expect(await program.exited).toBe(0);
  });
});

describe('npm run demo', () => {
  const DEMO = `"${process.execPath}" scripts/demo.mjs`;

  function isAlive(group: number): boolean {
    try {
      return process.kill(-group, 0);
    } catch {
      return false;
    }
  }

  async function inShell(commands: string, env: Record<string, string>) {
    const { PATH = '', HOME = '' } = process.env;
    const folder = temporaryFolder();
    const files = { DATABASE_URL: `file:${folder}/journal.db`, AUDIT_LOG_FILE: `${folder}/audit.log` };
    const options = { cwd: CHECKOUT, env: { PATH, HOME, ...files, ...env }, detached: true };
    const shell = spawn('bash', ['-c', commands], options);
    let [output, errors] = ['', ''];
    shell.stdout.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
    shell.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString('utf8')));
    await once(shell, 'close');
    const { pid = NaN, exitCode } = shell;
    return { output, errors, exitCode, isGroupAlive: isAlive(pid) };
  }

  test('starts a gateway on PORT, and leaves no process behind when its output is closed', async () => {
    const port = await freePort();
    const commands = `set -o pipefail; ${DEMO} | head -n 1`;
    const { output, ...end } = await inShell(commands, { PORT: String(port) });
    expect(output).toContain(`http://127.0.0.1:${port}/graphql`);
    expect(end).toEqual({ errors: '', exitCode: 0, isGroupAlive: false });
  });

  test('leaves no process behind when it is terminated', async () => {
    const commands = `exec 3< <(${DEMO}); read -u 3 line; kill -TERM $!; wait $!; echo "$?"`;
    const { output, isGroupAlive } = await inShell(commands, { PORT: '0' });
    expect(output).toBe('143\n');
    expect(isGroupAlive).toBe(false);
  });
});

// In a separate process, because an unhandled rejection would end that process, but not fail a test.
describe('A gateway process', () => {
  const READER = 'pgk_reader-0123456789abcdef0123';
  let service: FakePaymentService;
  let program: ChildProgram;
  let url: string;

  beforeAll(async () => {
    service = await testService(lookupReply);
    program = startWithSlowJournal({
      ...serviceSettings(service.url),
      CLIENT_KEYS_FILE: clientKeysFile({ id: 'reader', key: READER, scopes: ['payments:read'] }),
    });
    url = await listening(program);
  });

  const ask = (query: string, variables = {}, headers: Record<string, string> = AUTHORIZED) =>
    post(`${url}/graphql`, JSON.stringify({ query, variables }), headers);

  test.each([
    ['a lookup fails', 'payment(channel: $channel, transactionId: $id) { __typename }'],
    ['a lookup has no id', 'payment(channel: $channel) { __typename }'],
  ])(
    'does not exit after an operation in which %s and another lookup is forbidden to the caller',
    async (_what, lookup) => {
      const query = `query Q($channel: UUID!, $id: UUID!) { ${lookup} payout(channel: $channel, transactionId: $id) { __typename } }`;
      const reader = { authorization: `Bearer ${READER}` };
      for (let count = 0; count < 4; count += 1)
        expect((await ask(query, { channel: CHANNEL, id: FAILING[0] }, reader)).status).toBe(200);
      expect((await ask('{ __typename }')).text).toContain('Query');
    },
  );

  test('keeps serving requests after the open circuit breaker has refused the lookup of an attempt', async () => {
    service.respond(() => ({ status: 200, json: { status: 'pending', transaction_id: TRANSACTION_ID } }));
    const CREATE = 'mutation ($input: CreatePaymentInput!) { createPayment(input: $input) { __typename } }';
    const input = { ...redirectCall('CARD').input, idempotencyKey: 'key-1' };
    expect((await ask(CREATE, { input })).text).toContain('PaymentSuccess');

    const ATTEMPT = '{ attempt(idempotencyKey: "key-1") { payment { __typename } } }';
    for (let count = 0; count < 2; count += 1) expect((await ask(ATTEMPT)).text).toContain('Payment"');

    service.respond(() => ({ status: 500, json: {} }));
    const ids = Array.from({ length: 100 }, () => randomUUID());
    const MANY =
      'query ($c: UUID!, $ids: [UUID!]!) { payments(channel: $c, transactionIds: $ids) { __typename } }';
    await ask(MANY, { c: CHANNEL, ids });
    expect((await ask(ATTEMPT)).text).toContain('SERVICE_UNAVAILABLE');
    expect((await ask('{ __typename }')).text).toContain('Query');
    program.signal('SIGTERM');
    expect(await program.exited).toBe(0);
  });
});
