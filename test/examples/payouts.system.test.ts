import { execFile, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Sandbox } from '../../src/sandbox/server';
import { latch, until } from '../support/latch';
import { CHANNEL, closeAfterTests, testGateway, testSandbox } from '../support/gateway';
import { FakePaymentService, type Fault } from '../support/payment-service/fake-payment-service';
import { reset } from '../support/payment-service/faults';
import { EXAMPLES, newFolder, runWithKey, startLossyProxy, type Loss, type Run } from './support';
import { serverOf } from '../support/http-server';

const SAMPLE = path.join(EXAMPLES, 'payouts/payouts.csv');
const PYTHON = path.join(EXAMPLES, 'python');
const hasPython = spawnSync('python3', ['--version']).status === 0;
if (!hasPython) console.warn('SKIPPED: there is no python3 on this machine: the Python example');

interface Line {
  reference: string;
  currency: string;
  value: string;
  method: object;
}

const PATIENT = { env: { SERVICE_TIMEOUT_MS: '60000' } };

let counted = 0;
const line = (over: Partial<Line> = {}): Line => ({
  reference: `ref-${(counted += 1)}`,
  currency: 'BDT',
  value: '100.00',
  method: { bkash: { accountNumber: '01712345678' } },
  ...over,
});

const folder = newFolder();
function listOf(...lines: Line[]): string {
  const file = path.join(folder, `list-${(counted += 1)}.json`);
  writeFileSync(file, JSON.stringify(lines));
  return file;
}

const runPayouts = (url: string, ...args: string[]): Run =>
  runWithKey('payouts/main.ts', url, folder, ...args);

async function endOf({ exited, output }: Run) {
  const code = await exited;
  const lines = output().matchAll(/^(paid|under way|declined|refused|unknown) +(\S+)/gm);
  return {
    code,
    results: Object.fromEntries(Array.from(lines, ([, result, reference = '']) => [reference, result])),
  };
}
const all = (result: string, lines: readonly Line[]) =>
  Object.fromEntries(lines.map(({ reference }) => [reference, result]));

describe('The payouts example with the sandbox', () => {
  let sandbox: Sandbox;
  let url: string;
  beforeAll(async () => {
    sandbox = await testSandbox({ settleAfterMs: 10 });
    ({ url } = await testGateway(sandbox.url, PATIENT));
  });
  afterEach(() => sandbox.controlPlane.reset());

  test('pays each line of its sample list once when it is run twice', async () => {
    const runs = [runPayouts(url, SAMPLE, '--wait', '100')];
    const first = await endOf(runs[0]!);
    expect(first).toMatchObject({ code: 0 });
    expect(Object.values(first.results)).toEqual(['paid', 'paid', 'paid']);
    runs.push(runPayouts(url, SAMPLE, '--wait', '100'));
    expect(await endOf(runs[1]!)).toEqual(first);
    expect(sandbox.controlPlane.counts().payout).toMatchObject({ creates: 3, created: 3 });
    for (const { output } of runs) expect(output()).not.toMatch(/01712345678|Payee|example\.com/);
  });

  test('reports declined and invalid lines, and pays the other lines', async () => {
    const [good, declined] = [line(), line({ value: '10.51' })];
    const mistaken = line({ currency: 'EUR' });
    const misspelt = line({ method: { bkash: { account: '1' } } });
    const paying = runPayouts(url, listOf(good, declined, mistaken, misspelt));
    expect(await endOf(paying)).toEqual({
      code: 1,
      results: {
        ...all('paid', [good]),
        ...all('declined', [declined]),
        ...all('refused', [mistaken, misspelt]),
      },
    });
    for (const reason of ['INSUFFICIENT_FUNDS', 'amount.currency', 'BAD_USER_INPUT'])
      expect(paying.output()).toContain(reason);
    expect(sandbox.controlPlane.counts().payout.created).toBe(2);
  });

  test('sends no payout of an invalid list', async () => {
    const twice = line();
    const csv = path.join(folder, 'broken.csv');
    writeFileSync(csv, readFileSync(SAMPLE, 'utf8').replace('BDT', ''));
    for (const list of [listOf(line(), twice, twice), csv, path.join(folder, 'none.csv')])
      expect(await endOf(runPayouts(url, list))).toMatchObject({ code: 2, results: {} });
    expect(sandbox.controlPlane.counts().payout.creates).toBe(0);
  });
});

describe('The payouts example with a failing service', () => {
  let service: FakePaymentService;
  let url: string;
  beforeAll(async () => {
    service = closeAfterTests(await FakePaymentService.start());
    ({ url } = await testGateway(service.url, PATIENT));
  });

  /** Plans a fault of the creates for one line. */
  const planFor = (of: Line | undefined, fault: Fault): void =>
    service.plan((endpoint, { json }) =>
      endpoint === 'create-payout' && json['external_id'] === of?.reference ? fault : undefined,
    );
  const paidOnce = (lines: Line[]): void =>
    expect(lines.map(({ reference }) => service.created(reference).length)).toEqual(lines.map(() => 1));

  test('pays every line once when it is killed and run again', async () => {
    const lines = Array.from({ length: 8 }, () => line());
    const list = listOf(...lines);
    const [, , held] = lines;
    const hold = latch();
    planFor(held, { acts: true, first: hold.opened });
    const first = runPayouts(url, list, '--wait', '0');
    const received = () => service.requestsTo('create-payout').map(({ json }) => json['external_id']);
    await until(() => received().includes(held!.reference));
    await first.end('SIGKILL');
    service.plan(() => undefined);
    hold.open();
    expect(await endOf(runPayouts(url, list, '--wait', '0'))).toMatchObject({
      code: 0,
      results: all('under way', lines),
    });
    paidOnce(lines);
  });

  test('retries, with the same idempotency key, a payout whose response was lost, and pays every line once', async () => {
    const lines = [line(), line(), line()];
    const [, lost] = lines;
    service.ledger.lag = { ms: 3_600_000, lookups: 0 };
    planFor(lost, { acts: true, reply: reset });
    const paying = runPayouts(url, listOf(...lines), '--wait', '0');
    await until(() => paying.output().includes(`${lost!.reference}: OUTCOME_UNKNOWN`));
    for (const entry of service.ledger.entries) entry.visibleAt = 0;
    service.ledger.lag = { ms: 0, lookups: 0 };
    expect(await endOf(paying)).toMatchObject({ code: 0, results: all('under way', lines) });
    paidOnce(lines);
  });

  test('reports a payout whose outcome stays unknown, and exits with 3', async () => {
    const lost = line();
    service.plan(() => undefined);
    service.next('create-payout', { acts: false, reply: reset });
    const other = line();
    const list = listOf(lost, other);
    expect(await endOf(runPayouts(url, list, '--wait', '0', '--patience', '0'))).toMatchObject({
      code: 3,
      results: { ...all('unknown', [lost]), ...all('under way', [other]) },
    });
  });

  test('reports payouts as unknown if responses do not come from a gateway', async () => {
    const responses = ['null', '{"data":{}}', '{"errors":[{"message":"x"}]}', '<html>'];
    let requests = 0;
    const url = await serverOf((_, response) => response.end(responses[requests++ % responses.length]));
    const lines = responses.map(() => line());
    const paying = runPayouts(url, listOf(...lines), '--wait', '0', '--patience', '0');
    expect(await endOf(paying)).toMatchObject({ code: 3, results: all('unknown', lines) });
  });
});

async function python(url: string, ...args: string[]): Promise<string> {
  const { PATH = '', HOME = '' } = process.env;
  const ours = { PAYGRAPH_URL: url, PAYGRAPH_KEY_FILE: path.join(folder, 'key') };
  const env = { PATH, HOME, PYTHONPATH: PYTHON, PYTHONDONTWRITEBYTECODE: '1', ...ours };
  return (await promisify(execFile)('python3', args, { env, cwd: folder })).stdout.trim();
}

const LOSSES: Record<string, Loss> = {
  createPayout: 'response',
  createPayment: 'response',
  confirmPayment: 'response',
  paymentUpdated: 'stream',
  payout: 'refused',
  attempts: 'refused',
};

(hasPython ? describe : describe.skip)('The Python example', () => {
  const start = async (losses = LOSSES) => {
    const sandbox = await testSandbox({ settleAfterMs: 1000 });
    const gateway = await testGateway(sandbox.url, { env: { SERVICE_TIMEOUT_MS: '20000' } });
    return { sandbox, gateway, proxy: await startLossyProxy(gateway.url, losses) };
  };

  test('creates one payout and one payment and confirms once, although the first call of each operation fails', async () => {
    const { sandbox, proxy } = await start();
    // The sandbox carries out payouts of this amount, and cuts the connection before the response.
    const printed = await python(proxy.url, path.join(PYTHON, 'tour.py'), 'salary-1', '1500.80');
    expect(proxy.lost.sort()).toEqual(Object.keys(LOSSES).sort());
    const steps = printed
      .split('\n')
      .map((line) => Object.entries(JSON.parse(line) as Record<string, Record<string, unknown>>)[0]!);
    const shown = (name: string) => steps.filter(([step]) => step === name).map(([, result]) => result);
    expect(shown('createPayout')[0]).toMatchObject({ __typename: 'PayoutSuccess', replayed: true });
    const transactionId = shown('payout')[0]?.['transactionId'];
    expect(transactionId).toEqual(expect.any(String));
    expect(shown('createPayment')).toMatchObject([{ __typename: 'PaymentSuccess', replayed: true }]);
    expect(shown('paymentUpdated').at(-1)).toMatchObject({ status: 'COMPLETED' });
    expect(shown('attempt')).toMatchObject([
      { operation: 'CREATE_PAYMENT', outcome: 'SUCCEEDED', paymentMethod: 'UPI' },
      {
        idempotencyKey: 'payout salary-1',
        outcome: 'SUCCEEDED',
        transactionId,
        amount: { currency: 'BDT', value: '1500.80' },
        payoutMethod: 'BKASH',
      },
    ]);
    expect(sandbox.controlPlane.counts()).toMatchObject({
      payout: { creates: 1, created: 1 },
      payment: { creates: 1, created: 1, confirms: 1 },
    });
  });

  test('never sends a payout of unknown outcome twice', async () => {
    const { sandbox, gateway } = await start({});
    // The sandbox cuts the connection for this amount, and creates nothing.
    const program = `import sys, paygraph, tour
gateway = paygraph.Gateway(sys.argv[1], open("key").read().strip())
for patience in (0, 1):
    print(paygraph.create_payout(gateway, tour.payout_of("salary-3", "1500.81"), patience)["__typename"])
for attempt in paygraph.attempts(gateway, "${CHANNEL}", externalId="salary-3"):
    print(attempt["outcome"])`;
    const { origin } = new URL(gateway.url);
    const printed = await python(origin, '-c', program, origin);
    expect(printed.split('\n')).toEqual(['OutcomeUnknownError', 'OutcomeUnknownError', 'UNKNOWN']);
    expect(sandbox.controlPlane.counts().payout).toMatchObject({ creates: 1, created: 0 });
  });

  test('follows no redirect, which would send the key to another origin', async () => {
    let requests = 0;
    const other = await serverOf((_, response) => {
      requests += 1;
      response.end('{"data":{"payment":null}}');
    });
    const url = await serverOf((_, response) => response.writeHead(302, { location: other }).end());
    const program = `import sys, paygraph
try:
    paygraph.Gateway(sys.argv[1], open("key").read().strip()).execute(paygraph.PAYMENT, {})
except paygraph.GatewayError as error:
    print(error.code)`;
    expect(await python(url, '-c', program, url)).toBe('NO_ANSWER');
    expect(requests).toBe(0);
  });
});
