import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { CHANNEL, closeAfterTests, testGateway, testSandbox } from '../support/gateway';
import { startLosingProxy, type Loss } from './support/losing-proxy';
import { workplace } from './support/payouts';

jest.setTimeout(120_000);

const FOLDER = path.resolve(__dirname, '../../examples/python');
const hasPython = spawnSync('python3', ['--version']).status === 0;
if (!hasPython)
  console.warn('SKIPPED: the samples in Python are not run, as there is no python3 on this machine.');

const folder = workplace();

/** What a program in Python has printed. */
async function python(url: string, ...args: string[]): Promise<string> {
  const { PATH = '', HOME = '' } = process.env;
  const env = {
    PATH,
    HOME,
    PYTHONPATH: FOLDER,
    PYTHONDONTWRITEBYTECODE: '1',
    PAYGRAPH_URL: url,
    PAYGRAPH_KEY_FILE: path.join(folder, 'key'),
  };
  return (await promisify(execFile)('python3', args, { env, cwd: folder })).stdout;
}

type Step = Record<string, Record<string, unknown> | null>;

const tour = async (url: string, ...args: string[]): Promise<Step[]> => {
  const printed = await python(url, path.join(FOLDER, 'tour.py'), ...args);
  return printed
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Step);
};
const called = (steps: Step[], name: string) => steps.flatMap((step) => (name in step ? [step[name]] : []));

/** The URL of a server that stands where the gateway should be. */
async function serverOf(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closeAfterTests({ close: () => new Promise((resolve) => server.close(() => resolve())) });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const LOSSES: Record<string, Loss> = {
  createPayout: 'response',
  createPayment: 'response',
  confirmPayment: 'response',
  paymentUpdated: 'stream',
  payout: 'refused',
  attempts: 'refused',
};

(hasPython ? describe : describe.skip)('The samples in Python', () => {
  const start = async (losses = LOSSES) => {
    const sandbox = await testSandbox({ settleAfterMs: 1000 });
    const gateway = await testGateway(sandbox.url, { env: { SERVICE_TIMEOUT_MS: '20000' } });
    return { sandbox, gateway, proxy: await startLosingProxy(gateway.url, losses) };
  };

  test('pay, confirm, watch and reconcile once each, when service and network lose their responses', async () => {
    const { sandbox, proxy } = await start();
    // Of this amount the sandbox pays out, and cuts the connection before its response.
    const steps = await tour(proxy.url, 'salary-1', '1500.80');
    expect(proxy.lost.sort()).toEqual(Object.keys(LOSSES).sort());
    const [paidOut] = called(steps, 'createPayout');
    expect(paidOut).toMatchObject({ __typename: 'PayoutSuccess', replayed: true });
    expect(called(steps, 'payout')).toMatchObject([{ transactionId: expect.any(String) as string }]);
    expect(called(steps, 'createPayment')).toMatchObject([{ __typename: 'PaymentSuccess', replayed: true }]);
    expect(called(steps, 'paymentUpdated').at(-1)).toMatchObject({ status: 'COMPLETED' });
    expect(called(steps, 'attempt')).toMatchObject([
      { operation: 'CREATE_PAYMENT', outcome: 'SUCCEEDED', paymentMethod: 'UPI' },
      {
        idempotencyKey: 'payout salary-1',
        outcome: 'SUCCEEDED',
        transactionId: called(steps, 'payout')[0]?.['transactionId'],
        amount: { currency: 'BDT', value: '1500.80' },
        payoutMethod: 'BKASH',
      },
    ]);
    expect(sandbox.control.counts()).toMatchObject({
      payout: { creates: 1, created: 1 },
      payment: { creates: 1, created: 1, confirms: 1 },
    });
  });

  test('run again with the same reference, they pay nothing', async () => {
    const { sandbox, gateway } = await start({});
    const url = new URL(gateway.url).origin;
    const before = await tour(url, 'salary-2');
    const again = await tour(url, 'salary-2');
    const idOf = (steps: Step[]) => called(steps, 'payout')[0]?.['transactionId'];
    expect(idOf(again)).toBe(idOf(before));
    expect(sandbox.control.counts()).toMatchObject({ payout: { created: 1 }, payment: { created: 1 } });
  });

  test('never send a payout of unknown outcome twice', async () => {
    const { sandbox, gateway } = await start({});
    // Of this amount the sandbox cuts the connection and creates nothing.
    const program = `import sys, paygraph, tour
gateway = paygraph.Gateway(sys.argv[1], open("key").read().strip())
for patience in (0, 1):
    print(paygraph.create_payout(gateway, tour.payout_of("salary-3", "1500.81"), patience)["__typename"])
for attempt in paygraph.attempts(gateway, "${CHANNEL}", externalId="salary-3"):
    print(attempt["outcome"])`;
    const printed = await python(new URL(gateway.url).origin, '-c', program, new URL(gateway.url).origin);
    expect(printed.trim().split('\n')).toEqual(['OutcomeUnknownError', 'OutcomeUnknownError', 'UNKNOWN']);
    expect(sandbox.control.counts().payout).toMatchObject({ creates: 1, created: 0 });
  });

  test.each([
    ['0', 0.375],
    ['7', 7],
  ])('pause no less than their backoff, and not all alike, when Retry-After is %s', async (after, least) => {
    const url = await serverOf((_, response) => response.writeHead(503, { 'retry-after': after }).end());
    const program = `import json, sys, paygraph
now, pauses = 0, []
def sleep(seconds):
    global now
    now += seconds
    pauses.append(seconds)
paygraph.time.sleep, paygraph.time.monotonic = sleep, lambda: now
try:
    paygraph.Gateway(sys.argv[1]).ask_until(300, paygraph.PAYMENT, {})
except paygraph.GatewayError:
    print(json.dumps(pauses))`;
    const pauses = JSON.parse(await python(url, '-c', program, url)) as number[];
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(least);
    expect(pauses.length).toBeLessThan(20);
    expect(new Set(pauses).size).toBe(pauses.length);
  });

  test('follow no redirect, which would hand the key to another origin', async () => {
    const elsewhere: IncomingMessage[] = [];
    const other = await serverOf((request, response) => {
      elsewhere.push(request);
      response.end('{"data":{"payment":null}}');
    });
    const url = await serverOf((_, response) => response.writeHead(302, { location: other }).end());
    const program = `import sys, paygraph
try:
    paygraph.Gateway(sys.argv[1], open("key").read().strip()).ask(paygraph.PAYMENT, {})
except paygraph.GatewayError as error:
    print(error.code)`;
    expect((await python(url, '-c', program, url)).trim()).toBe('NO_ANSWER');
    expect(elsewhere).toEqual([]);
  });
});
