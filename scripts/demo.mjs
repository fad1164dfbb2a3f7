// A guided tour: every flow against a running gateway with the embedded sandbox. Prints each query and answer.
// PAYGRAPH_URL says where the gateway is; where none answers, one is started for the tour and stopped after it.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';

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
const PAYMENT = `query Payment($channel: UUID!, $transactionId: UUID!) {
  payment(channel: $channel, transactionId: $transactionId) { ...PaymentFields }
}`;
const PAYMENT_FIELDS = `fragment PaymentFields on PaymentResource {
  transactionId method status
  amount { currency value received }
  error { code message reason }
  nextAction {
    __typename
    ... on RedirectAction { url }
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
const PAYOUT = `query Payout($channel: UUID!, $transactionId: UUID!) {
  payout(channel: $channel, transactionId: $transactionId) { ...PayoutFields }
}`;
const PAYOUT_FIELDS = `fragment PayoutFields on PayoutResource {
  transactionId externalId method status
  amount { currency value }
  error { code message reason }
  ... on BkashPayout { accountMask }
}`;

let endpoint = `${process.env.PAYGRAPH_URL ?? 'http://127.0.0.1:4000'}/graphql`;

async function ask(query, variables) {
  const operation = query.includes('PaymentFields')
    ? `${query}\n${PAYMENT_FIELDS}`
    : `${query}\n${PAYOUT_FIELDS}`;
  print(`${query}\n${JSON.stringify(variables, null, 2)}`);
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: operation, variables }),
  });
  const { data, errors } = await response.json();
  if (errors) throw new Error(`The gateway answered errors: ${JSON.stringify(errors)}`);
  print(`→ ${JSON.stringify(data, null, 2)}\n`);
  return Object.values(data)[0];
}

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

/** Looks until the status is one of those; a dashboard would subscribe or wait for pollAfterMs. */
async function until(query, transactionId, statuses) {
  const deadline = Date.now() + 15_000;
  for (;;) {
    const quiet = await fetch(endpoint, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        query: query.replace(
          /\{ \.\.\.\w+ \}/,
          query === PAYMENT
            ? '{ ... on PaymentResource { status } }'
            : '{ ... on PayoutResource { status } }',
        ),
        variables: { channel: CHANNEL, transactionId },
      }),
    });
    const { data } = await quiet.json();
    if (statuses.includes(Object.values(data)[0].status)) break;
    if (Date.now() > deadline)
      throw new Error(`${transactionId} did not become ${statuses.join(' or ')} in time.`);
    await wait(250);
  }
  return ask(query, { channel: CHANNEL, transactionId });
}

function expectStatus(found, status) {
  if (found.status !== status) throw new Error(`Expected ${status}, found ${found.status}.`);
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
      expectStatus(await until(PAYMENT, payment.transactionId, ['COMPLETED']), 'COMPLETED');
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
      expectStatus(await until(PAYMENT, payment.transactionId, ['COMPLETED']), 'COMPLETED');
    },
  ],
  [
    'Declined: the amount ends in .51, so the sandbox says insufficient funds',
    async () => {
      const payment = await createPayment('25.51', 'EUR', { redirect: 'CARD' });
      expectStatus(await until(PAYMENT, payment.transactionId, ['FAILED']), 'FAILED');
    },
  ],
  [
    'Mispaid: the amount ends in .70, so less is received than asked',
    async () => {
      const payment = await createPayment('100.70', 'KZT', { redirect: 'C2C' });
      expectStatus(await until(PAYMENT, payment.transactionId, ['MISPAID']), 'MISPAID');
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
      expectStatus(await until(PAYOUT, payout.transactionId, ['COMPLETED']), 'COMPLETED');
    },
  ],
  [
    'A mistake: a wrong currency and a wrong phone number; nothing is sent',
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

const answers = () =>
  fetch(endpoint.replace(/graphql$/, 'readyz')).then(
    ({ ok }) => ok,
    () => false,
  );

/** A gateway of the tour's own, on any free ports. */
async function startOwn() {
  const program = path.join(import.meta.dirname, 'start.mjs');
  const env = { ...process.env, PORT: '0', SANDBOX_PORT: '0', LOG_LEVEL: 'info' };
  const child = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const chunk of child.stdout) {
    const [, url] = /GraphQL +(http\S+)/.exec(String(chunk)) ?? [];
    if (!url) continue;
    endpoint = url;
    child.stdout.resume();
    return child;
  }
  throw new Error('The gateway did not start.');
}

const own = (await answers()) ? undefined : await startOwn();
try {
  print(`The tour talks to ${endpoint}.`);
  for (const [place, [title, run]] of TOUR.entries()) {
    print(`\n${bold(`${place + 1}. ${title}`)}\n`);
    await run();
  }
  print(`All ${TOUR.length} flows went as they should.`);
} catch (error) {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
} finally {
  own?.kill('SIGTERM');
}
