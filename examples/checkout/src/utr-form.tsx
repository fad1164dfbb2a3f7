import { useMutation } from '@apollo/client/react';
import {
  ConfirmPaymentDocument,
  confirmationFor,
  type PaymentFieldsFragment,
  type ProvideUtrActionFieldsFragment,
} from '@paygraph/client';
import { useState, type FormEvent } from 'react';
import { Field } from './field.tsx';
import { troubleText } from './texts.ts';
import { mistakesIn, type Trouble } from './errors.ts';

interface UtrFormProps {
  payment: PaymentFieldsFragment;
  action: ProvideUtrActionFieldsFragment;
}

/** Confirms the payment with the UTR. The subscription shows the outcome. */
export function UtrForm({ payment: { channel, transactionId }, action }: UtrFormProps) {
  const [confirm, { loading }] = useMutation(ConfirmPaymentDocument);
  const [trouble, setTrouble] = useState<Trouble | null>(null);

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const utr = String(new FormData(event.currentTarget).get('utr')).trim();
    setTrouble(null);
    try {
      const input = { channel, transactionId, confirmation: confirmationFor(action, utr) };
      const result = (await confirm({ variables: { input } })).data?.confirmPayment;
      if (result && result.__typename !== 'PaymentSuccess')
        setTrouble({ operation: 'confirm', failure: result });
    } catch (thrown) {
      setTrouble({ operation: 'confirm', thrown });
    }
  };

  return (
    <form onSubmit={(event) => void submit(event)}>
      <Field
        name="utr"
        label="UTR (the reference number in your UPI app)"
        mistake={mistakesIn(trouble)[`confirmation.${action.confirmWith}.utr`]}
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
