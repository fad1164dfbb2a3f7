// Runs the main flows against a gateway with the embedded sandbox, and prints each query and response. The gateway is
// at PAYGRAPH_URL, else at PORT of this machine. If it is not ready, one is started at PORT or any free port, and
// stopped at the end.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { constants } from 'node:os';
import path from 'node:path';
import process from 'node:process';

const CHANNEL = '7c1bd1e0-6b1b-4c8a-9d7e-0f5a4a3c2b10';
const bold = (text) => (process.stdout.isTTY ? `\x1b[1m${text}\x1b[0m` : text);
const print = (text = '') => process.stdout.write(`${text}\n`);

const CREATE_PAYMENT = `mutation CreatePayment($input: CreatePaymentInput!) {
  createPayment(input: $input) {
    __typename
    ... on PaymentSuccess { payment { ...PaymentFields } }
    ... on UserError { code message }
    ... on InvalidInputError { fields { path rule message } }
  }
}`;
const CONFIRM_PAYMENT = `mutation ConfirmPayment($input: ConfirmPaymentInput!) {
  confirmPayment(input: $input) {
    __typename
    ... on PaymentSuccess { payment { ...PaymentFields } }
    ... on UserError { code message }
  }
}`;
const WATCH_PAYMENT = `subscription WatchPayment($channel: UUID!, $transactionId: UUID!) {
  paymentUpdated(channel: $channel, transactionId: $transactionId) { ...PaymentFields }
}`;
const PAYMENT_FIELDS = `fragment PaymentFields on PaymentResource {
  transactionId method status
  amount { currency value received }
  error { code message reason }
  nextAction {
    __typename
    ... on RedirectAction { url pollAfterMs }
    ... on ProvideUtrAction { upiId upiLink confirmWith }
    ... on AwaitProviderAction { pollAfterMs }
  }
}`;
const CREATE_PAYOUT = `mutation CreatePayout($input: CreatePayoutInput!) {
  createPayout(input: $input) {
    __typename
    ... on PayoutSuccess { payout { ...PayoutFields } }
    ... on UserError { code message }
  }
}`;
const WATCH_PAYOUT = `subscription WatchPayout($channel: UUID!, $transactionId: UUID!) {
  payoutUpdated(channel: $channel, transactionId: $transactionId) { ...PayoutFields }
}`;
const PAYOUT_FIELDS = `fragment PayoutFields on PayoutResource {
  transactionId externalId method status
  amount { currency value }
  error { code message reason }
  ... on BkashPayout { accountMask }
}`;

const { PORT, PAYGRAPH_URL = `http://127.0.0.1:${PORT ?? 4000}` } = process.env;

let endpoint = `${PAYGRAPH_URL}/graphql`;

function send(path, query, variables, headers = {}) {
  const fields = query.includes('PaymentFields') ? PAYMENT_FIELDS : PAYOUT_FIELDS;
  print(`${query}\n${JSON.stringify(variables, null, 2)}`);
  return fetch(endpoint + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query: `${query}\n${fields}`, variables }),
  });
}

/** Prints a response. Returns the value of its root field. */
function show({ data, errors }) {
  if (errors) throw new Error(`The gateway responded with errors: ${JSON.stringify(errors)}`);
  print(`→ ${JSON.stringify(data, null, 2)}\n`);
  return Object.values(data)[0];
}

const ask = async (query, variables) => show(await (await send('', query, variables)).json());

const createPayment = async (value, currency, method) => {
  const input = {
    idempotencyKey: randomUUID(),
    channel: CHANNEL,
    amount: { currency, value },
    method,
    returnUrl: 'https://shop.example/thanks',
  };
  return (await ask(CREATE_PAYMENT, { input })).payment;
};

/** Subscribes with server-sent events and prints every state until the expected status. */
async function watch(query, transactionId, status) {
  const accept = { accept: 'text/event-stream' };
  const { body } = await send('/stream', query, { channel: CHANNEL, transactionId }, accept);
  const timer = setTimeout(() => void body.cancel(), 15_000);
  let text = '';
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    const events = (text + piece).split('\n\n');
    text = events.pop();
    const results = events.flatMap((event) => /^event: next\ndata: (.*)$/.exec(event)?.[1] ?? []);
    const hasStatus = results.map((result) => show(JSON.parse(result)).status).includes(status);
    if (hasStatus) return clearTimeout(timer);
  }
  throw new Error(`${transactionId} did not reach the status ${status} within 15 s.`);
}

const TOUR = [
  [
    'Redirect: the payer pays on the hosted page',
    async () => {
      const payment = await createPayment('10.00', 'EUR', { redirect: 'CARD' });
      const page = payment.nextAction.url;
      print(`The payer opens ${page} and presses Pay.\n`);
      await fetch(page);
      await fetch(`${page}/pay`, {
        method: 'POST',
        redirect: 'manual',
        headers: { origin: new URL(page).origin },
      });
      await watch(WATCH_PAYMENT, payment.transactionId, 'COMPLETED');
    },
  ],
  [
    'Server-to-server: UPI, confirmed with the UTR',
    async () => {
      const payment = await createPayment('499.00', 'INR', {
        upi: { firstName: 'Asha', phone: '+919876543210' },
      });
      print('The payer pays to the UPI id and types in the UTR.\n');
      const input = {
        channel: CHANNEL,
        transactionId: payment.transactionId,
        confirmation: { [payment.nextAction.confirmWith]: { utr: '412345678901' } },
      };
      await ask(CONFIRM_PAYMENT, { input });
      await watch(WATCH_PAYMENT, payment.transactionId, 'COMPLETED');
    },
  ],
  [
    'Declined: the amount ends in .51, which the sandbox declines: insufficient funds',
    async () => {
      const payment = await createPayment('25.51', 'EUR', { redirect: 'CARD' });
      await watch(WATCH_PAYMENT, payment.transactionId, 'FAILED');
    },
  ],
  [
    'Mispaid: the amount ends in .70, so the sandbox receives less',
    async () => {
      const payment = await createPayment('100.70', 'KZT', { redirect: 'C2C' });
      await watch(WATCH_PAYMENT, payment.transactionId, 'MISPAID');
    },
  ],
  [
    'Payout to a mobile wallet',
    async () => {
      const input = {
        idempotencyKey: randomUUID(),
        channel: CHANNEL,
        amount: { currency: 'BDT', value: '1500.00' },
        externalId: `salary-${randomUUID().slice(0, 8)}`,
        method: { bkash: { accountNumber: '01712345678' } },
      };
      const { payout } = await ask(CREATE_PAYOUT, { input });
      await watch(WATCH_PAYOUT, payout.transactionId, 'COMPLETED');
    },
  ],
  [
    'Invalid input: a wrong currency and a wrong phone number; nothing is sent',
    async () => {
      const input = {
        idempotencyKey: randomUUID(),
        channel: CHANNEL,
        amount: { currency: 'EUR', value: '1.00' },
        method: { upi: { phone: '12' } },
      };
      await ask(CREATE_PAYMENT, { input });
    },
  ],
];

const isReady = () =>
  fetch(endpoint.replace(/graphql$/, 'readyz')).then(
    ({ ok }) => ok,
    () => false,
  );

/** The gateway process that this script has started; undefined if it uses a running gateway. */
let own;
let isEnding = false;

/** Stops the started gateway, then exits. */
function end(code) {
  isEnding = true;
  if (!own || own.exitCode !== null) process.exit(code);
  own.once('exit', () => process.exit(code));
  own.kill('SIGTERM');
}

/** Starts a gateway, and sets the endpoint to the URL in its output. */
async function startOwn() {
  const program = path.join(import.meta.dirname, '../bin/paygraph.mjs');
  const env = { ...process.env, PORT: PORT ?? '0', SANDBOX_PORT: '0', LOG_LEVEL: 'info' };
  own = spawn(process.execPath, [program, 'start'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const chunk of own.stdout.iterator({ destroyOnReturn: false })) {
    const [, url] = /GraphQL +(http\S+)/.exec(String(chunk)) ?? [];
    if (!url) continue;
    endpoint = url;
    return own.stdout.resume();
  }
  throw new Error('The gateway has ended before it was ready; its output above tells why.');
}

// Ends quietly on EPIPE, for example when the output is piped to `head`.
process.stdout.on('error', ({ code }) => end(code === 'EPIPE' ? 0 : 1));
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'])
  process.once(signal, () => end(128 + constants.signals[signal]));

try {
  if (!(await isReady())) await startOwn();
  print(`The tour talks to ${endpoint}.`);
  for (const [place, [title, run]] of TOUR.entries()) {
    print(`\n${bold(`${place + 1}. ${title}`)}\n`);
    await run();
  }
  print(`All ${TOUR.length} flows succeeded.`);
  end(0);
} catch (error) {
  // After a signal, requests in flight fail.
  if (!isEnding) {
    process.stderr.write(`${error.message}\n`);
    end(1);
  }
}
