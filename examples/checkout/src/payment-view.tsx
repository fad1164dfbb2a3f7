import { useSubscription } from '@apollo/client/react';
import { WatchPaymentDocument, formatMoney, type PaymentFieldsFragment } from '@paygraph/client';
import { CHANNEL } from './gateway.ts';
import { NextStep } from './next-step.tsx';
import { CHECKED_TEXT, declineText, MONEY_TAKEN_TEXT, outageText, troubleText } from './texts.ts';
import { useOutage } from './use-outage.ts';

interface PaymentViewProps {
  transactionId: string;
  startOver(): void;
}

/** Shows the status of the payment, updated by a subscription. */
export function PaymentView({ transactionId, startOver }: PaymentViewProps) {
  const { data, error, restart } = useSubscription(WatchPaymentDocument, {
    variables: { channel: CHANNEL, transactionId },
  });
  const payment = data?.paymentUpdated;
  const isOut = useOutage(!payment);
  // In these states the subscription has ended, and its connection with it.
  const isFinal = payment?.status === 'COMPLETED' || payment?.status === 'FAILED';
  const isOld = isOut && !error && !isFinal;
  return (
    <section aria-label="Your payment">
      <div role="status">
        {payment && <Standing payment={payment} />}
        {!payment && !error && !isOld && <p>Looking for your payment…</p>}
      </div>
      {isOld && (
        <p role="alert" className="trouble">
          {outageText(payment !== undefined)}
        </p>
      )}
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

/** Shows the amount and the outcome. */
function Standing({ payment }: { payment: PaymentFieldsFragment }) {
  const { __typename, status, amount, error, nextAction } = payment;
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
          {__typename === 'UpiPayment' && <p>{MONEY_TAKEN_TEXT}</p>}
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
    case 'UNKNOWN':
      return (
        <>
          <h2>{money}: being checked</h2>
          <p>{CHECKED_TEXT}</p>
        </>
      );
    case 'PENDING':
    case 'PROCESSING':
      // A payer whose confirm is being checked has already paid.
      return nextAction?.__typename === 'AwaitProviderAction' ? (
        <h2>{money}: being checked</h2>
      ) : (
        <h2>{money} to pay</h2>
      );
    default:
      return status satisfies never;
  }
}
