import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryFolder } from '../support/cleanup';
import type { HistoryLine, LedgerLine } from '../history/format';

const INPUT = { channel: 'c', externalId: 'x', amount: { currency: 'INR', value: '5.5' }, method: 'upi' };
const CALL = { process: 1, call: 1, operation: 'createPayment', key: 'k' } as const;
const RESULT = { type: 'PaymentSuccess', transactionId: 'T1', replayed: false };
const HISTORY: HistoryLine[] = [
  { event: 'settings', time: 0, settleMs: 1000, retentionMs: 1_000_000 },
  { ...CALL, event: 'invoke', time: 10, input: INPUT },
  { ...CALL, event: 'ok', time: 20, result: RESULT },
];
const CREATED: LedgerLine = {
  ...INPUT,
  kind: 'payment',
  transactionId: 'T1',
  key: 'k',
  requestedAt: 15,
  createdAt: 15,
  visibleAt: 15,
  confirms: [],
};

function writeLines(folder: string, name: string, lines: readonly object[]): string {
  const file = path.join(folder, name);
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return file;
}

describe('npm run check-history', () => {
  test.each([
    ['0 when every rule holds', [CREATED], 0],
    ['1 when a key created two transactions', [CREATED, { ...CREATED, transactionId: 'T2' }], 1],
  ])('exits with %s', (_case, ledger, exitCode) => {
    const folder = temporaryFolder();
    const files = [writeLines(folder, 'history.jsonl', HISTORY), writeLines(folder, 'ledger.jsonl', ledger)];
    const { status, stderr } = spawnSync(process.execPath, ['scripts/run-harness.mjs', 'history', ...files], {
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: exitCode, stderr: '' });
  });
});
