import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { readConfig } from '../../src/config';
import { CHECKOUT, listening, startProgram } from '../gateway/fixtures/program';
import { freePort } from '../support/free-port';
import { CHANNEL } from '../support/gateway';
import { bearer } from './support/rig';

// A start may have to compile first, and other tests run beside this one.
jest.setTimeout(180_000);

const folder = mkdtempSync(path.join(tmpdir(), 'paygraph-dev-token-'));
symlinkSync(path.join(CHECKOUT, 'bin'), path.join(folder, 'bin'));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Ran {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** `npm run dev-token -- …` in a folder of its own. */
function devToken(args: readonly string[], settings: Record<string, string> = {}): Promise<Ran> {
  const { PATH = '', HOME = '' } = process.env;
  const options = { cwd: folder, env: { PATH, HOME, ...settings } };
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['bin/paygraph.mjs', 'dev-token', ...args],
      options,
      (_error, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}

const settingsIn = ({ stderr }: Ran) =>
  Object.fromEntries(
    [...stderr.matchAll(/^ +(AUTH_\w+)=(\S+)$/gm)].map(([, name = '', value = '']) => [name, value] as const),
  );

const CREATE = `mutation ($input: CreatePaymentInput!) {
  createPayment(input: $input) { ... on PaymentSuccess { payment { ... on PaymentResource { transactionId } } } }
}`;
const createWith = (idempotencyKey: string) => ({
  input: {
    idempotencyKey,
    channel: CHANNEL,
    amount: { currency: 'EUR', value: '10.00' },
    method: { redirect: 'CARD' },
  },
});
const LOOK = `query ($id: UUID!) { payment(channel: "${CHANNEL}", transactionId: $id) { __typename } }`;

interface Answer {
  data?: { payment?: object | null; createPayment?: { payment: { transactionId: string } } };
  errors?: { extensions: { code: string } }[];
}

describe('dev-token', () => {
  let SANDBOX_PORT: string;
  let url: string;
  let auth: Record<string, string>;

  const token = async (...args: string[]): Promise<string> => {
    const ran = await devToken(args, { SANDBOX_PORT });
    expect(ran.code).toBe(0);
    return ran.stdout.trim();
  };

  async function ask(credentials: string, query: string, variables: object) {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...bearer(credentials) },
      body: JSON.stringify({ query, variables }),
    });
    const { data, errors } = (await response.json()) as Answer;
    return { status: response.status, data, code: errors?.[0]?.extensions.code };
  }

  beforeAll(async () => {
    SANDBOX_PORT = String(await freePort());
    auth = settingsIn(await devToken(['--sub', 'somebody'], { SANDBOX_PORT }));
    url = await listening(startProgram({ PORT: '0', SANDBOX_PORT, ...auth }, folder));
  });

  test('makes its key once, for its user alone', async () => {
    const file = path.join(folder, 'data/dev-token/private-key.json');
    const before = statSync(file);
    expect(before.mode & 0o777).toBe(0o600);
    expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
    await token('--sub', 'alice');
    expect(statSync(file)).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs });
    const served = await (await fetch(String(auth['AUTH_JWKS_URL']))).text();
    expect(served).toContain('"kid"');
    expect(served).not.toContain('"d"');
  });

  test('makes tokens with which two callers see only their own payments', async () => {
    const [alice, bob] = await Promise.all([token('--sub', 'alice'), token('--sub', 'bob')]);
    const [ofAlice, ofBob] = await Promise.all(
      [alice, bob].map(async (caller, place) => {
        const { data } = await ask(caller, CREATE, createWith(`order-${place}`));
        return String(data?.createPayment?.payment.transactionId);
      }),
    );
    const sees = async (caller: string, id = '') => (await ask(caller, LOOK, { id })).data?.payment !== null;
    expect([await sees(alice, ofAlice), await sees(alice, ofBob)]).toEqual([true, false]);
    expect([await sees(bob, ofAlice), await sees(bob, ofBob)]).toEqual([false, true]);
  });

  test('makes a token that lacks a scope, which is FORBIDDEN', async () => {
    const reader = await token('--sub', 'alice', '--scope', 'payments:read:own');
    expect(await ask(reader, CREATE, createWith('order-9'))).toMatchObject({ code: 'FORBIDDEN' });
  });

  test('makes a token for one channel, which is FORBIDDEN on another', async () => {
    const other = CHANNEL.replace('7c', '8d');
    const elsewhere = await token('--sub', 'alice', '--channels', other);
    expect(await ask(elsewhere, CREATE, createWith('order-9'))).toMatchObject({ code: 'FORBIDDEN' });
  });

  test('makes an expired token, which is UNAUTHENTICATED', async () => {
    const expired = await token('--sub', 'alice', '--expires-in', '-5m');
    expect(await ask(expired, CREATE, createWith('order-9'))).toMatchObject({
      status: 401,
      code: 'UNAUTHENTICATED',
    });
  });

  test('is not for a real service: neither the command nor a gateway takes SERVICE_BASE_URL', async () => {
    const real = {
      SERVICE_BASE_URL: 'https://pay.example.com/',
      SERVICE_API_KEY: 'a',
      SERVICE_SECRET_KEY: 'b',
    };
    expect(await devToken(['--sub', 'alice'], real)).toMatchObject({ code: 2, stdout: '' });
    expect(() => readConfig({ ...real, ...auth })).toThrow(/AUTH_ISSUER: /);
    expect(() => readConfig({ ...real, ...auth, AUTH_ISSUER: 'https://login.example/' })).not.toThrow();
  });

  const REFUSED: [string, string[], RegExp, Record<string, string>?][] = [
    ['an unknown scope', ['--sub', 'alice', '--scope', 'payments:write'], /--scope/],
    ['a subject with a blank', ['--sub', 'alice b'], /--sub/],
    ['a channel that is no UUID', ['--sub', 'alice', '--channels', 'all'], /--channels/],
    ['a lifetime that no gateway accepts', ['--sub', 'alice', '--expires-in', '25h'], /--expires-in/],
    ['a port that nobody can know', ['--sub', 'alice'], /SANDBOX_PORT/, { SANDBOX_PORT: '0' }],
  ];

  test.each(REFUSED)('refuses %s', async (_what, args, says, settings = {}) => {
    const ran = await devToken(args, settings);
    expect(ran).toMatchObject({ code: 2, stdout: '' });
    expect(ran.stderr).toMatch(says);
  });
});
