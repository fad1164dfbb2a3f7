import type { FastifyInstance, FastifyReply } from 'fastify';
import { mispaidAmount } from './simulated-outcome';
import { html, cspSourceOfUrl, sendPage, type Html } from './html';
import type { Lifecycle } from './lifecycle';
import type { TransactionStore } from './store';
import { hasFinalStatus, type Payment, type PaymentStatus } from './transaction';

/** Adds the payer's hosted page, the target of `redirect_url`. Anyone who knows the payment id can use the page. */
export function addHostedPage(app: FastifyInstance, store: TransactionStore, lifecycle: Lifecycle): void {
  const findPayment = (paymentId: string) => {
    const transaction = store.get(paymentId);
    return transaction?.kind === 'payment' ? transaction : undefined;
  };
  const actionByChoice = new Map<string, (payment: Payment) => void>([
    ['pay', (payment) => lifecycle.pay(payment)],
    ['pay-less', (payment) => lifecycle.mispay(payment)],
    ['decline', (payment) => lifecycle.decline(payment)],
  ]);
  app.get<{ Params: { id: string } }>('/pay/:id', (request, reply) => {
    const payment = findPayment(request.params.id);
    if (!payment) return sendUnknownPaymentPage(reply);
    lifecycle.markPageOpened(payment);
    return sendPaymentPage(reply, payment);
  });
  app.post<{ Params: { id: string; choice: string } }>('/pay/:id/:choice', (request, reply) => {
    const payment = findPayment(request.params.id);
    const applyChoice = actionByChoice.get(request.params.choice);
    if (!payment || !applyChoice) return sendUnknownPaymentPage(reply);
    const relativePageUrl = `../${payment.id}`;
    if (hasFinalStatus(payment)) return reply.redirect(relativePageUrl, 303);
    applyChoice(payment);
    // `href` is the URL in ASCII, as a Location header requires.
    return reply.redirect(payment.returnUrl ? new URL(payment.returnUrl).href : relativePageUrl, 303);
  });
}

function sendUnknownPaymentPage(reply: FastifyReply): FastifyReply {
  const body = html`<h1>Unknown payment</h1>
    <p class="soft">There is no payment at this address.</p>`;
  return sendPage(reply, { status: 404, title: 'Unknown payment', body });
}

const STATUS_HEADINGS: Record<PaymentStatus, string> = {
  pending: 'Your payment',
  processing: 'Your payment',
  completed: 'This payment is paid',
  failed: 'This payment was declined',
  mispaid: 'A different amount was paid',
};

function sendPaymentPage(reply: FastifyReply, payment: Payment): FastifyReply {
  const { amount, status, returnUrl } = payment;
  const body = html`<h1>${STATUS_HEADINGS[status]}</h1>
    <p class="soft">Sandbox: no real money moves.</p>
    <p class="amount">${amount.value} ${amount.currency}</p>
    <dl>${detailRows(payment)}</dl>
    ${hasFinalStatus(payment) ? finalResultHtml(returnUrl) : choiceForms(payment)}`;
  const formActionSource = returnUrl && cspSourceOfUrl(returnUrl);
  return sendPage(reply, { title: `Payment ${status}`, body, formActionSource });
}

function detailRows(payment: Payment): Html[] {
  const { channel, type, externalId, addedFields, status, state, amount, error } = payment;
  const labelledValues = [
    ['Merchant', channel],
    ['Method', type],
    ['Order', externalId],
    ...Object.entries(addedFields).map(([name, value]) => [name.replaceAll('_', ' '), value]),
    ['Status', state ? `${status}, ${state}` : status],
    ['Received', amount.received && `${amount.received} ${amount.currency}`],
    ['Reason', error?.message],
  ];
  return labelledValues
    .filter(([, value]) => typeof value === 'string')
    .map(
      ([name, value]) =>
        html`<dt>${String(name)}</dt>
          <dd>${String(value)}</dd>`,
    );
}

function choiceForms({ id, amount }: Payment): Html {
  const { value, currency } = amount;
  const underpaidValue = mispaidAmount(value, 'less');
  return html`<div class="choices">
    <form method="post" action="${id}/pay"><button class="main">Pay ${value} ${currency}</button></form>
    <form method="post" action="${id}/pay-less">
      <button>Pay less: ${underpaidValue} ${currency}</button>
    </form>
    <form method="post" action="${id}/decline"><button>Decline</button></form>
  </div>`;
}

const finalResultHtml = (returnUrl: string | undefined): Html =>
  html`<p>This result is final.</p>
    ${returnUrl === undefined ? undefined : html`<a class="button" href="${returnUrl}">Back to the merchant</a>`}`;
