// npm run example:ledger: books every change of payments and payouts exactly once. It may be killed at any moment, and
// continues after the last booked change when it is started again.
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { CursorExpired, changes, gatewayError, type Change } from '@paygraph/client';
import { Ledger } from './ledger.ts';

const { values: options } = parseArgs({
  options: {
    channel: { type: 'string', default: '7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10' },
    file: { type: 'string', default: 'data/ledger.db' },
    after: { type: 'string' },
  },
});
const { PAYGRAPH_URL = 'http://127.0.0.1:4000', PAYGRAPH_KEY_FILE } = process.env;
const clientKey = PAYGRAPH_KEY_FILE && readFileSync(PAYGRAPH_KEY_FILE, 'utf8').trim();

const print = (text: string): void => void process.stdout.write(`${text}\n`);

function describeChange({ __typename, transactionId, previousStatus, status, amount }: Change): string {
  const kind = __typename === 'PaymentChange' ? 'payment' : 'payout';
  const money = amount ? `, ${amount.value} ${amount.currency}` : '';
  return `${kind} ${transactionId}: ${previousStatus ?? 'new'} -> ${status}${money}`;
}

const stopController = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopController.abort());

const ledger = new Ledger(options.file, options.channel);
if (options.after !== undefined) ledger.continueAfter(options.after);
print('Booking changes.');
try {
  const changeStream = changes({
    url: new URL('graphql', `${PAYGRAPH_URL}/`).href,
    channel: options.channel,
    after: ledger.cursor,
    headers: clientKey ? { authorization: `Bearer ${clientKey}` } : {},
    signal: stopController.signal,
    onRetry: (cause, waitMs) =>
      print(`${gatewayError(cause)?.code ?? 'No response'}; trying again in ${Math.round(waitMs)} ms.`),
  });
  for await (const change of changeStream) {
    ledger.book(change);
    print(describeChange(change));
  }
} catch (error) {
  if (error instanceof CursorExpired) {
    print('Changes were deleted before they were booked. Compare the books with the payment service,');
    print(`then continue with --after ${error.oldestCursor}`);
    process.exitCode = 3;
  } else if (!stopController.signal.aborted) throw error;
} finally {
  ledger.close();
}
