import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { gate, until } from '../exactly-once/support/gate';
import { reset } from '../exactly-once/service/faults';
import { FaultyService } from '../exactly-once/service/faulty-service';
import { closeAfterTests, testGateway, testSandbox } from '../support/gateway';
import { freePort } from '../support/free-port';
import { runPayouts, workplace, type PayoutsRun } from './support/payouts';

jest.setTimeout(120_000);

const SAMPLE = path.resolve(__dirname, '../../examples/payouts/payouts.csv');

interface Line {
  reference: string;
  currency: string;
  value: string;
  method: object;
}

/** A gateway that does not take a busy machine for a lost answer. */
const PATIENT = { env: { SERVICE_TIMEOUT_MS: '60000' } };

let counted = 0;
/** A line to a mobile wallet, under a reference that no test used before. */
const line = (over: Partial<Line> = {}): Line => ({
  reference: `ref-${(counted += 1)}`,
  currency: 'BDT',
  value: '100.00',
  method: { bkash: { accountNumber: '01712345678' } },
  ...over,
});

const folder = workplace();
function listOf(...lines: Line[]): string {
  const file = path.join(folder, `list-${(counted += 1)}.json`);
  writeFileSync(file, JSON.stringify(lines));
  return file;
}

const prints = (run: PayoutsRun, text: string | RegExp): Promise<string> =>
  until(run.output, (output) => output.search(text) >= 0, 60_000);

/** How it ended. */
const endOf = async (run: PayoutsRun) => ({ code: await run.exited, output: run.output() });

describe('Before the sandbox', () => {
  const start = async () => {
    const sandbox = await testSandbox({ settleAfterMs: 10 });
    return { sandbox, url: (await testGateway(sandbox.url, PATIENT)).url };
  };

  test('the list that comes with it is paid out, and a second run pays nothing', async () => {
    const { sandbox, url } = await start();
    const first = await endOf(runPayouts(url, folder, SAMPLE, '--wait', '100'));
    expect(first).toMatchObject({ code: 0, output: expect.stringContaining('3 payouts: 3 paid.') });
    expect(first.output).not.toContain('created before');
    const again = await endOf(runPayouts(url, folder, SAMPLE, '--wait', '100'));
    expect(again.code).toBe(0);
    expect(again.output.match(/created before/g)).toHaveLength(3);
    expect(sandbox.control.counts().payout).toMatchObject({ creates: 3, created: 3 });
    // Who is paid, and where, is not in the report.
    expect(first.output + again.output).not.toMatch(/01712345678|Payee|example\.com/);
  });

  test('a declined and a mistaken line are told, and the others are paid', async () => {
    const { sandbox, url } = await start();
    const [good, declined] = [line(), line({ value: '10.51' })];
    const mistaken = line({ currency: 'EUR' });
    const misspelt = line({ method: { bkash: { account: '1' } } });
    const { code, output } = await endOf(runPayouts(url, folder, listOf(good, declined, mistaken, misspelt)));
    expect(code).toBe(1);
    expect(output).toMatch(new RegExp(`^paid +${good.reference} `, 'm'));
    expect(output).toMatch(new RegExp(`^declined +${declined.reference} .*INSUFFICIENT_FUNDS$`, 'm'));
    expect(output).toMatch(new RegExp(`^refused +${mistaken.reference} .*amount\\.currency: `, 'm'));
    expect(output).toMatch(new RegExp(`^refused +${misspelt.reference} .*BAD_USER_INPUT`, 'm'));
    expect(output).toContain('4 payouts: 1 paid, 1 declined, 2 refused.');
    expect(sandbox.control.counts().payout.created).toBe(2);
  });

  test('a line that was changed after it was paid is refused', async () => {
    const { sandbox, url } = await start();
    const before = line();
    expect(await runPayouts(url, folder, listOf(before)).exited).toBe(0);
    const { code, output } = await endOf(runPayouts(url, folder, listOf({ ...before, value: '200.00' })));
    expect({ code, output }).toMatchObject({
      code: 1,
      output: expect.stringContaining('sent before with other details'),
    });
    expect(sandbox.control.counts().payout.created).toBe(1);
  });

  test('a list that cannot be used sends nothing', async () => {
    const { sandbox, url } = await start();
    const twice = line();
    const csv = path.join(folder, 'broken.csv');
    writeFileSync(csv, readFileSync(SAMPLE, 'utf8').replace('BDT', ''));
    for (const [list, why] of [
      [listOf(line(), twice, twice), 'payout 3: its reference is there already'],
      [csv, 'payout 1: reference, currency, value and method are needed'],
      [path.join(folder, 'none.csv'), 'cannot be read'],
    ] as const)
      expect(await endOf(runPayouts(url, folder, list))).toMatchObject({
        code: 2,
        output: expect.stringContaining(why),
      });
    expect(sandbox.control.counts().payout.creates).toBe(0);
  });
});

describe('Before a service in trouble', () => {
  let service: FaultyService;
  let url: string;
  beforeAll(async () => {
    service = closeAfterTests(await FaultyService.start());
    ({ url } = await testGateway(service.url, PATIENT));
  });

  const paidOnce = (lines: Line[]): void =>
    expect(lines.map(({ reference }) => service.created(reference).length)).toEqual(lines.map(() => 1));

  test('killed in the middle and run again, it has paid every line once', async () => {
    const lines = Array.from({ length: 8 }, () => line());
    const list = listOf(...lines);
    const [, , held] = lines;
    const hold = gate();
    service.plan((purpose, { json }) =>
      purpose === 'create-payout' && json['external_id'] === held?.reference
        ? { acts: true, first: hold.opened }
        : undefined,
    );
    const first = runPayouts(url, folder, list, '--wait', '0');
    await until(
      () => service.asked('create-payout').map(({ json }) => json['external_id']),
      (references) => references.includes(held?.reference),
      60_000,
    );
    await first.kill();
    service.plan(() => undefined);
    hold.open();
    const { code, output } = await endOf(runPayouts(url, folder, list, '--wait', '0'));
    expect({ code, output }).toMatchObject({
      code: 0,
      output: expect.stringContaining('8 payouts: 8 under way.'),
    });
    expect(output).toMatch(new RegExp(`${held?.reference} .*created before`));
    paidOnce(lines);
  });

  test('where answers are lost it asks again with the same key, and every line is paid once', async () => {
    const lines = [line(), line(), line()];
    const [, lost] = lines;
    service.ledger.lag = { ms: 3_600_000, lookups: 0 };
    service.plan((purpose, { json }) =>
      purpose === 'create-payout' && json['external_id'] === lost?.reference
        ? { acts: true, reply: reset }
        : undefined,
    );
    const run = runPayouts(url, folder, listOf(...lines), '--wait', '0');
    await prints(run, `${lost?.reference}: OUTCOME_UNKNOWN; trying again`);
    for (const entry of service.ledger.entries) entry.visibleAt = 0;
    service.ledger.lag = { ms: 0, lookups: 0 };
    const { code, output } = await endOf(run);
    expect({ code, output }).toMatchObject({
      code: 0,
      output: expect.stringContaining('3 payouts: 3 under way.'),
    });
    paidOnce(lines);
  });

  test('what stays unknown is said to be unknown', async () => {
    const lost = line();
    service.plan(() => undefined);
    service.next('create-payout', { acts: false, reply: reset });
    const list = listOf(lost, line());
    const { code, output } = await endOf(runPayouts(url, folder, list, '--wait', '0', '--patience', '0'));
    expect({ code, output }).toMatchObject({
      code: 3,
      output: expect.stringContaining('2 payouts: 1 under way, 1 unknown.\nRun it again with the same list'),
    });
  });

  test.each(['null', '{}', '{"data":{}}', '{"errors":[{"message":"x"}]}', '{"errors":{}}', '<html>'])(
    'an answer that is none of a gateway is no answer: %s',
    async (text) => {
      const server = createServer((_request, response) => response.end(text)).listen(0, '127.0.0.1');
      await once(server, 'listening');
      closeAfterTests({ close: async () => void server.close() });
      const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
      const { code, output } = await endOf(
        runPayouts(at, folder, listOf(line()), '--wait', '0', '--patience', '0'),
      );
      expect(output).toContain('1 payouts: 1 unknown.');
      expect(code).toBe(3);
    },
  );

  test('it waits for a gateway that is not there yet', async () => {
    service.plan(() => undefined);
    const [port, only] = [await freePort(), line()];
    const run = runPayouts(`http://127.0.0.1:${port}/graphql`, folder, listOf(only), '--wait', '0');
    await prints(run, `${only.reference}: NO_ANSWER; trying again`);
    await testGateway(service.url, { env: { ...PATIENT.env, PORT: String(port) } });
    expect(await run.exited).toBe(0);
    paidOnce([only]);
  });
});
