import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '../support/free-port';
import { until } from '../support/latch';
import { closeAfterTests, temporaryDatabase, testService, testSettings } from '../support/gateway';
import { CHECKOUT, listening, startProgram, type ChildProgram } from '../support/program';
import { post, raw } from '../support/raw';

const ANY_PORTS = { PORT: '0', SANDBOX_PORT: '0' };

/** Returns the settings that a failed start names, one per line of output. */
const namedIn = (output: string): string[] =>
  output
    .split('\n')
    .flatMap((line) => /^ {2}([A-Z_]+): /.exec(line)?.[1] ?? [])
    .sort();

describe('A gateway with nothing configured', () => {
  let program: ChildProgram;
  let url: string;

  beforeAll(async () => {
    program = startProgram(ANY_PORTS);
    url = await listening(program);
    await program.printed(/Ctrl\+C/);
  });

  test('listens on loopback, and prints the addresses of gateway and sandbox', async () => {
    expect(program.output()).toContain(`${url}/graphql`);
    const [, sandbox = ''] = await program.printed(/sandbox\s+(http:\S+)/);
    for (const address of [url, sandbox]) expect(new URL(address).hostname).toBe('127.0.0.1');
    expect((await raw(`${sandbox}healthz`)).status).toBe(200);
  });

  test('prints a query that works when it is pasted', async () => {
    const [, body = ''] = await program.printed(/-d '(\{.*\})'/);
    const { data } = await post(`${url}/graphql`, body);
    expect(data).toMatchObject({
      createPayment: { payment: { status: 'PENDING', nextAction: { url: expect.any(String) as unknown } } },
    });
  });

  test('shows browsers a page, and tools the schema', async () => {
    const page = await raw(`${url}/graphql`, { headers: { accept: 'text/html' } });
    expect(page.headers.get('content-type')).toMatch(/text\/html/);
    expect(page.text).toContain('createPayment');
    const { data } = await post(`${url}/graphql`, '{"query":"{ __schema { queryType { name } } }"}');
    expect(data).toEqual({ __schema: { queryType: { name: 'Query' } } });
  });

  test('exits with 0 when it is interrupted', async () => {
    program.signal('SIGINT');
    expect(await program.exited).toBe(0);
  });
});

test('A running program serves requests and exits with 0 when its standard output is closed', async () => {
  const port = await freePort();
  const settings = { SERVICE_API_KEY: 'key-that-is-not-used', ...ANY_PORTS, PORT: String(port) };
  const program = startProgram({ ...testSettings(), ...settings });
  program.stopReading();
  const url = `http://127.0.0.1:${port}`;
  const health = () => raw(`${url}/healthz`).catch(() => ({ status: 0 }));
  await until(health, ({ status }) => status === 200, 60_000);
  for (const body of ['{"query":"{ __typename }"}', '{']) await post(`${url}/graphql`, body);
  expect((await health()).status).toBe(200);
  program.signal('SIGTERM');
  expect(await program.exited).toBe(0);
});

describe('A program that cannot start', () => {
  test('names every invalid setting and file at once, prints none of their values, and exits with 1', async () => {
    const folder = path.join(__dirname, 'fixtures');
    const settings = {
      AUDIT_LOG_FILE: folder,
      CLIENT_KEYS_FILE: '/nonexistent/clients.json',
      DATABASE_URL: 'file:/nonexistent/deeper/journal.db',
      FINGERPRINT_KEY: 'fingerprint key with blanks',
      HOST: 'bad host value',
      INTROSPECTION: 'sometimes',
      JOURNAL_RETENTION_DAYS: 'eternity',
      LOG_LEVEL: 'deafening',
      PAYOUT_PREFLIGHT: 'possibly',
      PERSISTED_OPERATIONS: path.join(folder, 'canaries.ts'),
      PORT: 'seventy-thousand',
      SANDBOX_CONTROL: 'perhaps',
      SANDBOX_PORT: 'minus-one',
      SERVICE_API_KEY_FILE: '/nonexistent/secret-path',
      SERVICE_BASE_URL: 'http://user:hunter2@payments.example/api',
      SERVICE_CREDENTIALS_FILE: path.join(folder, 'localhost.pem'),
      SERVICE_NOT_FOUND_STATUS: '777777',
      SERVICE_SECRET_KEY: 'secret key with blanks',
      SERVICE_TIMEOUT_MS: 'forever-and-a-day',
      SHUTDOWN_DELAY_MS: 'eventually',
      SHUTDOWN_GRACE_MS: 'at-leisure',
      UNKNOWN_SETTLE_SECONDS: 'unsettled',
    };
    const program = startProgram(settings);
    expect(await program.exited).toBe(1);
    const output = program.output();
    expect(namedIn(output)).toEqual(Object.keys(settings));
    expect(output).not.toMatch(/hunter2|eventually|possibly|fingerprint key|eternity|secret key|secret-path/);
    expect(output).not.toMatch(
      /seventy|forever|777777|minus-one|perhaps|sometimes|leisure|deafening|unsettled/,
    );
    expect(output).not.toMatch(/bad host|^\s+at /m);
  });

  test('names the port that is in use', async () => {
    const taken = await testService();
    const { port } = new URL(taken.url);
    const program = startProgram({ ...ANY_PORTS, SANDBOX_PORT: port });
    expect(await program.exited).toBe(1);
    expect(program.output()).toContain(port);
    expect(program.output()).toContain('SANDBOX_PORT');
    expect(program.output()).not.toMatch(/^\s+at /m);
  });
});

describe('Several programs of one checkout', () => {
  /** Copies the checkout without compiled files. Returns the path of the copy. */
  function newCheckout(): string {
    const checkout = mkdtempSync(path.join(tmpdir(), 'paygraph-'));
    closeAfterTests({ close: async () => rmSync(checkout, { recursive: true, force: true }) });
    const FILES = ['src', 'bin', 'scripts', 'package.json', 'package-lock.json', 'tsconfig.json'];
    for (const part of FILES)
      cpSync(path.join(CHECKOUT, part), path.join(checkout, part), { recursive: true });
    const build = JSON.parse(readFileSync(path.join(CHECKOUT, 'tsconfig.build.json'), 'utf8')) as {
      compilerOptions: object;
    };
    // Without type checks the build takes a fifth of the time.
    const compilerOptions = { ...build.compilerOptions, noCheck: true };
    writeFileSync(path.join(checkout, 'tsconfig.build.json'), JSON.stringify({ ...build, compilerOptions }));
    symlinkSync(path.join(CHECKOUT, 'node_modules'), path.join(checkout, 'node_modules'));
    return checkout;
  }

  test('compile and start at the same time, each with its own sandbox', async () => {
    const checkout = newCheckout();
    const programs = [1, 2].map(() => startProgram({ PORT: '0' }, checkout));
    const urls = await Promise.all(programs.map(listening));
    expect(new Set(urls).size).toBe(2);
    for (const url of urls) expect((await raw(`${url}/readyz`)).status).toBe(200);
    programs.forEach((program) => program.signal('SIGTERM'));
    for (const program of programs) expect(await program.exited).toBe(0);
  }, 120_000);
});

describe('The demo', () => {
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
    const DATABASE_URL = temporaryDatabase();
    const AUDIT_LOG_FILE = path.join(path.dirname(DATABASE_URL.slice('file:'.length)), 'audit.log');
    const shell = spawn('bash', ['-c', commands], {
      cwd: CHECKOUT,
      env: { PATH, HOME, DATABASE_URL, AUDIT_LOG_FILE, ...env },
      detached: true,
    });
    let [output, errors] = ['', ''];
    shell.stdout.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')));
    shell.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString('utf8')));
    await once(shell, 'close');
    const { pid = NaN, exitCode } = shell;
    return { output, errors, exitCode, isGroupAlive: isAlive(pid) };
  }

  test('starts its gateway on PORT, and leaves no process behind when its output is closed', async () => {
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
