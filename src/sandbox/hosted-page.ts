import type { FastifyInstance, FastifyReply } from 'fastify';
import { html, policySource, sendPage, type Html } from './html';
import type { Lifecycle } from './lifecycle';
import { mispaidAmount } from './final-states';
import type { Store } from './store';
import { isSettled, type Payment, type PaymentStatus } from './transaction';

interface HostedPageParts {
  store: Store;
  lifecycle: Lifecycle;
}

type PayerAction = (payment: Payment, lifecycle: Lifecycle) => void;

const PAYER_ACTIONS: ReadonlyMap<string, PayerAction> = new Map<string, PayerAction>([
  ['pay', (payment, lifecycle) => lifecycle.pay(payment)],
  ['decline', (payment, lifecycle) => lifecycle.decline(payment)],
  [
    'pay-less',
    (payment, lifecycle) => lifecycle.mispay(payment, mispaidAmount(payment.amount.value, 'less')),
  ],
]);

interface PayerParams {
  id: string;
  choice: string;
}

/** Adds the hosted page at `redirect_url`. As in the real service, the payment id is the payer's only credential. */
export function addHostedPage(app: FastifyInstance, { store, lifecycle }: HostedPageParts): void {
  const findPayment = (id: string) => {
    const found = store.get(id);
    return found?.kind === 'payment' ? found : undefined;
  };
  app.get<{ Params: PayerParams }>('/pay/:id', (request, reply) => {
    const payment = findPayment(request.params.id);
    if (!payment) return sendUnknownPayment(reply);
    lifecycle.markPageOpened(payment);
    return sendPayment(reply, payment);
  });
  app.post<{ Params: PayerParams }>('/pay/:id/:choice', (request, reply) => {
    const payment = findPayment(request.params.id);
    const act = PAYER_ACTIONS.get(request.params.choice);
    if (!payment || !act) return sendUnknownPayment(reply);
    const ownPage = `../${payment.id}`;
    if (isSettled(payment)) return reply.redirect(ownPage, 303);
    act(payment, lifecycle);
    // URL.href is ASCII, as headers must be; the client's URL may contain other characters.
    return reply.redirect(payment.returnUrl ? new URL(payment.returnUrl).href : ownPage, 303);
  });
}

function sendUnknownPayment(reply: FastifyReply): FastifyReply {
  const body = html`<h1>Unknown payment</h1>
    <p class="soft">There is no payment at this address.</p>`;
  return sendPage(reply, { status: 404, page: { title: 'Unknown payment', body } });
}

function sendPayment(reply: FastifyReply, payment: Payment): FastifyReply {
  const formTarget = payment.returnUrl && policySource(payment.returnUrl);
  const body = html`<h1>${HEADINGS[payment.status]}</h1>
    <p class="soft">Sandbox: no real money moves.</p>
    <p class="amount">${payment.amount.value} ${payment.amount.currency}</p>
    <dl>${detailRows(payment)}</dl>
    ${isSettled(payment) ? html`<p>This result is final.</p>` : choiceForms(payment)} ${returnLink(payment)}`;
  return sendPage(reply, { status: 200, page: { title: `Payment ${payment.status}`, body }, formTarget });
}

const HEADINGS: Record<PaymentStatus, string> = {
  pending: 'Your payment',
  processing: 'Your payment',
  completed: 'This payment is paid',
  failed: 'This payment was declined',
  mispaid: 'A different amount was paid',
};

function detailRows(payment: Payment): Html[] {
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

function choiceForms(payment: Payment): Html {
  const { value, currency } = payment.amount;
  const less = mispaidAmount(value, 'less');
  return html`<div class="choices">
    <form method="post" action="${payment.id}/pay">
      <button class="main">Pay ${value} ${currency}</button>
    </form>
    <form method="post" action="${payment.id}/pay-less"><button>Pay less: ${less} ${currency}</button></form>
    <form method="post" action="${payment.id}/decline"><button>Decline</button></form>
  </div>`;
}

function returnLink(payment: Payment): Html | undefined {
  if (!isSettled(payment) || payment.returnUrl === undefined) return undefined;
  return html`<a class="button" href="${payment.returnUrl}">Back to the merchant</a>`;
}
