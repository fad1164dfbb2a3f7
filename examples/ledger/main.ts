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
const key = PAYGRAPH_KEY_FILE && readFileSync(PAYGRAPH_KEY_FILE, 'utf8').trim();

const say = (text: string): void => void process.stdout.write(`${text}\n`);

function textOf({ __typename, transactionId, previousStatus, status, amount }: Change): string {
  const kind = __typename === 'PaymentChange' ? 'payment' : 'payout';
  const money = amount ? `, ${amount.value} ${amount.currency}` : '';
  return `${kind} ${transactionId}: ${previousStatus ?? 'new'} -> ${status}${money}`;
}

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());

const ledger = new Ledger(options.file, options.channel);
if (options.after !== undefined) ledger.continueAfter(options.after);
say('Booking changes.');
try {
  const source = changes({
    url: new URL('graphql', `${PAYGRAPH_URL}/`).href,
    channel: options.channel,
    after: ledger.cursor,
    headers: key ? { authorization: `Bearer ${key}` } : {},
    signal: stopping.signal,
    onRetry: (cause, waitMs) =>
      say(`${gatewayError(cause)?.code ?? 'No response'}; trying again in ${Math.round(waitMs)} ms.`),
  });
  for await (const change of source) {
    ledger.book(change);
    say(textOf(change));
  }
} catch (error) {
  if (error instanceof CursorExpired) {
    say('Changes were deleted before they were booked. Compare the books with the payment service,');
    say(`then continue with --after ${error.oldestCursor}`);
    process.exitCode = 3;
  } else if (!stopping.signal.aborted) throw error;
} finally {
  ledger.close();
}
