import type { FastifyInstance, FastifyReply } from 'fastify';
import { html, policySource, sendPage, type Html } from './html';
import type { Lifecycle } from './lifecycle';
import { receivedInstead } from './final-states';
import type { Store } from './store';
import { isSettled, type Payment, type PaymentStatus } from './transaction';

interface HostedPageParts {
  store: Store;
  lifecycle: Lifecycle;
}

type Choice = (payment: Payment, lifecycle: Lifecycle) => void;

const CHOICES: ReadonlyMap<string, Choice> = new Map<string, Choice>([
  ['pay', (payment, lifecycle) => lifecycle.pay(payment)],
  ['decline', (payment, lifecycle) => lifecycle.decline(payment)],
  [
    'pay-less',
    (payment, lifecycle) => lifecycle.mispay(payment, receivedInstead(payment.amount.value, 'less')),
  ],
]);

interface PayerParams {
  id: string;
  choice: string;
}

/** The page of `redirect_url`. The payment's id is the payer's only credential, as with the real service. */
export function addHostedPage(app: FastifyInstance, { store, lifecycle }: HostedPageParts): void {
  const find = (id: string) => {
    const found = store.get(id);
    return found?.kind === 'payment' ? found : undefined;
  };
  app.get<{ Params: PayerParams }>('/pay/:id', (request, reply) => {
    const payment = find(request.params.id);
    if (!payment) return sendUnknown(reply);
    lifecycle.open(payment);
    return sendPayment(reply, payment);
  });
  app.post<{ Params: PayerParams }>('/pay/:id/:choice', (request, reply) => {
    const payment = find(request.params.id);
    const choose = CHOICES.get(request.params.choice);
    if (!payment || !choose) return sendUnknown(reply);
    const ownPage = `../${payment.id}`;
    if (isSettled(payment)) return reply.redirect(ownPage, 303);
    choose(payment, lifecycle);
    // Parsed, because headers are ASCII and a client's URL need not be.
    return reply.redirect(payment.returnUrl ? new URL(payment.returnUrl).href : ownPage, 303);
  });
}

function sendUnknown(reply: FastifyReply): FastifyReply {
  const body = html`<h1>Unknown payment</h1>
    <p class="soft">There is no payment at this address.</p>`;
  return sendPage(reply, { status: 404, page: { title: 'Unknown payment', body } });
}

function sendPayment(reply: FastifyReply, payment: Payment): FastifyReply {
  const formTarget = payment.returnUrl && policySource(payment.returnUrl);
  const body = html`<h1>${HEADINGS[payment.status]}</h1>
    <p class="soft">Sandbox: no real money moves.</p>
    <p class="amount">${payment.amount.value} ${payment.amount.currency}</p>
    <dl>${details(payment)}</dl>
    ${isSettled(payment) ? html`<p>It is already settled.</p>` : choices(payment)} ${wayBack(payment)}`;
  return sendPage(reply, { status: 200, page: { title: `Payment ${payment.status}`, body }, formTarget });
}

const HEADINGS: Record<PaymentStatus, string> = {
  pending: 'Your payment',
  processing: 'Your payment',
  completed: 'This payment is paid',
  failed: 'This payment was declined',
  mispaid: 'Another amount was paid',
};

function details(payment: Payment): Html[] {
  const rows: [string, unknown][] = [
    ['Merchant', payment.channel],
    ['Method', payment.type],
    ...(payment.externalId === undefined ? [] : [['Order', payment.externalId] satisfies [string, string]]),
    ...Object.entries(payment.added).map(([name, value]): [string, unknown] => [
      name.replaceAll('_', ' '),
      value,
    ]),
    ['Status', payment.state ? `${payment.status}, ${payment.state}` : payment.status],
    ['Received', payment.amount.received && `${payment.amount.received} ${payment.amount.currency}`],
    ['Reason', payment.error?.message],
  ];
  return rows
    .filter(([, value]) => typeof value === 'string')
    .map(
      ([name, value]) =>
        html`<dt>${name}</dt>
          <dd>${String(value)}</dd>`,
    );
}

function choices(payment: Payment): Html {
  const { value, currency } = payment.amount;
  const less = receivedInstead(value, 'less');
  return html`<div class="choices">
    <form method="post" action="${payment.id}/pay">
      <button class="main">Pay ${value} ${currency}</button>
    </form>
    <form method="post" action="${payment.id}/pay-less"><button>Pay less: ${less} ${currency}</button></form>
    <form method="post" action="${payment.id}/decline"><button>Decline</button></form>
  </div>`;
}

function wayBack(payment: Payment): Html | undefined {
  if (!isSettled(payment) || payment.returnUrl === undefined) return undefined;
  return html`<a class="button" href="${payment.returnUrl}">Back to the merchant</a>`;
}
