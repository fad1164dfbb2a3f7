import { statSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { readConfig } from '../../src/config';
import { run, type Ran } from '../cli/support/run';
import { CHECKOUT, listening, startProgram } from '../support/program';
import { temporaryFolder } from '../support/cleanup';
import { freePort } from '../support/free-port';
import { DOCUMENTS, redirectCall } from '../support/calls';
import { CHANNEL } from '../support/gateway';
import { post, type RawResult } from '../support/raw';
import { bearer } from './support/harness';
import { until } from '../support/latch';

const folder = temporaryFolder();
symlinkSync(path.join(CHECKOUT, 'bin'), path.join(folder, 'bin'));

process.chdir(folder);
afterAll(() => process.chdir(CHECKOUT));

const devToken = (args: readonly string[], settings: Record<string, string>): Promise<Ran> =>
  run(['dev-token', '--sub', 'alice', ...args], settings);

const settingsIn = ({ err }: Ran) =>
  Object.fromEntries(
    [...err.matchAll(/^ +(AUTH_\w+)=(\S+)$/gm)].map(([, name = '', value = '']) => [name, value] as const),
  );

describe('dev-token', () => {
  let SANDBOX_PORT: string;
  let url: string;
  let auth: Record<string, string>;

  const token = async (...args: string[]): Promise<string> => {
    const ran = await devToken(args, { SANDBOX_PORT });
    expect(ran.code).toBe(0);
    return ran.out.trim();
  };

  const create = (credentials: string): Promise<RawResult> => {
    const body = { query: DOCUMENTS.createPayment, variables: { input: redirectCall('CARD').input } };
    return post(`${url}/graphql`, JSON.stringify(body), bearer(credentials));
  };

  beforeAll(async () => {
    SANDBOX_PORT = String(await freePort());
    auth = settingsIn(await devToken([], { SANDBOX_PORT }));
    url = await listening(startProgram({ PORT: '0', SANDBOX_PORT, ...auth }, folder));
  });

  test('creates its private key once, in a file that only its owner can read', async () => {
    const file = path.join(folder, 'data/dev-token/private-key.json');
    const before = statSync(file);
    expect(before.mode & 0o777).toBe(0o600);
    expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
    await token();
    expect(statSync(file)).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs });
    const served = await (await fetch(String(auth['AUTH_JWKS_URL']))).text();
    expect(served).toContain('"kid"');
    expect(served).not.toContain('"d"');
  });

  test('issues tokens that a gateway with the sandbox accepts for creating payments', async () => {
    // Repeated, because a busy journal refuses creates.
    const { data } = await until(
      async () => create(await token()),
      ({ text }) => !text.includes('SERVICE_UNAVAILABLE'),
    );
    expect(data).toMatchObject({ createPayment: { __typename: 'PaymentSuccess' } });
  });

  test.each([
    ['lacks a scope', ['--scope', 'payments:read:own'], 'FORBIDDEN'],
    ['is for another channel', ['--channels', CHANNEL.replace('7c', '8d')], 'FORBIDDEN'],
    ['has expired', ['--expires-in', '-5m'], 'UNAUTHENTICATED'],
  ])('issues a token that the gateway refuses if it %s', async (_what, options, code) => {
    const { errors } = await create(await token(...options));
    expect(errors).toMatchObject([{ extensions: { code } }]);
  });

  const REAL = { SERVICE_BASE_URL: 'https://pay.example/', SERVICE_API_KEY: 'a', SERVICE_SECRET_KEY: 'b' };

  test('prints settings that a gateway with a real payment service refuses at start', () => {
    expect(() => readConfig({ ...REAL, ...auth })).toThrow(/AUTH_ISSUER: /);
    expect(() => readConfig({ ...REAL, ...auth, AUTH_ISSUER: 'https://login.example/' })).not.toThrow();
  });

  test.each<[string, string[], RegExp, Record<string, string>]>([
    ['the settings of a real payment service', [], /SERVICE_BASE_URL/, REAL],
    ['an unknown scope', ['--scope', 'payments:write'], /--scope/, {}],
    ['a lifetime of more than a day', ['--expires-in', '25h'], /--expires-in/, {}],
    ['SANDBOX_PORT=0, which is no fixed port', [], /SANDBOX_PORT/, { SANDBOX_PORT: '0' }],
  ])('exits with 2 for %s', async (_what, args, pattern, settings) => {
    const ran = await devToken(args, settings);
    expect(ran).toMatchObject({ code: 2, out: '', err: expect.stringMatching(pattern) });
  });
});
