import { useMutation } from '@apollo/client/react';
import { ConfirmPaymentDocument, type PaymentFieldsFragment } from '@paygraph/client';
import { useState, type FormEvent } from 'react';
import { Field } from './field.tsx';
import { troubleText } from './texts.ts';
import { mistakesIn, type Trouble } from './troubles.ts';

/** Takes the UTR and confirms the payment with it. What becomes of it, the subscription shows. */
export function UtrForm({ payment: { channel, transactionId } }: { payment: PaymentFieldsFragment }) {
  const [confirm, { loading }] = useMutation(ConfirmPaymentDocument);
  const [trouble, setTrouble] = useState<Trouble | null>(null);

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const utr = String(new FormData(event.currentTarget).get('utr')).trim();
    setTrouble(null);
    try {
      const input = { channel, transactionId, confirmation: { upi: { utr } } };
      const result = (await confirm({ variables: { input } })).data?.confirmPayment;
      if (result && result.__typename !== 'PaymentSuccess') setTrouble({ failure: result });
    } catch (thrown) {
      setTrouble({ thrown });
    }
  };

  return (
    <form onSubmit={(event) => void submit(event)}>
      <Field
        name="utr"
        label="UTR (the reference number in your UPI app)"
        mistake={mistakesIn(trouble)['confirmation.upi.utr']}
        inputMode="numeric"
        autoComplete="off"
      />
      {trouble && (
        <p role="alert" className="trouble">
          {troubleText(trouble)}
        </p>
      )}
      <button className="main" disabled={loading}>
        I have paid
      </button>
    </form>
  );
}
