import { ApolloProvider } from '@apollo/client/react';
import { createRoot } from 'react-dom/client';
import { client } from './gateway.ts';
import { OrderForm } from './order-form.tsx';
import { PaymentView } from './payment-view.tsx';
import './style.css';
import { TroubleView } from './error-view.tsx';
import { useCheckout } from './use-checkout.ts';

function CheckoutPage() {
  const checkout = useCheckout();
  const { order, isBusy, startOver } = checkout;
  if (order.transactionId) return <PaymentView transactionId={order.transactionId} startOver={startOver} />;
  return (
    <>
      <OrderForm key={order.idempotencyKey} checkout={checkout} />
      <div role="status">{isBusy && <p>Sending your order…</p>}</div>
      <TroubleView checkout={checkout} />
    </>
  );
}

const page = document.getElementById('page');
if (page)
  createRoot(page).render(
    <ApolloProvider client={client}>
      <h1>Checkout</h1>
      <CheckoutPage />
      <p className="hint">An example of paygraph. With its sandbox no real money moves.</p>
    </ApolloProvider>,
  );
