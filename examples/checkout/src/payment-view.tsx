import { useSubscription } from '@apollo/client/react';
import { WatchPaymentDocument, formatMoney, type PaymentFieldsFragment } from '@paygraph/client';
import { CHANNEL } from './gateway.ts';
import { NextStep } from './next-step.tsx';
import { declineText, troubleText } from './texts.ts';

interface PaymentViewProps {
  transactionId: string;
  startOver(): void;
}

/** Where the payment stands, by itself: the gateway tells every change. */
export function PaymentView({ transactionId, startOver }: PaymentViewProps) {
  const { data, error, restart } = useSubscription(WatchPaymentDocument, {
    variables: { channel: CHANNEL, transactionId },
  });
  const payment = data?.paymentUpdated;
  return (
    <section aria-label="Your payment">
      <div role="status">
        {payment && <Standing payment={payment} />}
        {!payment && !error && <p>Looking for your payment…</p>}
      </div>
      {payment?.nextAction && <NextStep payment={payment} action={payment.nextAction} />}
      {error && (
        <div role="alert" className="trouble">
          <p>{troubleText({ operation: 'watch', thrown: error })}</p>
          <button onClick={restart}>Look again</button>
        </div>
      )}
      {payment?.status === 'FAILED' && (
        <button className="main" onClick={startOver}>
          Try another way
        </button>
      )}
      {payment?.status === 'COMPLETED' && <button onClick={startOver}>New order</button>}
    </section>
  );
}

/** The amount, and what has become of it. */
function Standing({ payment }: { payment: PaymentFieldsFragment }) {
  const { status, amount, error, nextAction } = payment;
  const money = amount ? formatMoney(amount) : 'The amount';
  const received = amount?.received && formatMoney({ ...amount, value: amount.received });
  switch (status) {
    case 'COMPLETED':
      return <h2 className="good">{money}: paid. Thank you!</h2>;
    case 'FAILED':
      return (
        <>
          <h2 className="bad">{money}: not paid</h2>
          <p>{error ? declineText(error) : 'The payment was declined.'}</p>
        </>
      );
    case 'MISPAID':
      return (
        <>
          <h2 className="bad">Another amount has arrived</h2>
          <p>
            We asked for {money} and got {received || 'something else'}. Please write to us.
          </p>
        </>
      );
    case 'PENDING':
    case 'PROCESSING':
    case 'UNKNOWN':
      // Who has confirmed has paid already.
      return nextAction?.__typename === 'AwaitProviderAction' ? (
        <h2>{money}: being checked</h2>
      ) : (
        <h2>{money} to pay</h2>
      );
    default:
      return status satisfies never;
  }
}
