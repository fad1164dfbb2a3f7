import { useState, type FormEvent } from 'react';
import { Field } from './field.tsx';
import { mistakesIn } from './errors.ts';
import type { Checkout } from './use-checkout.ts';
import {
  AMOUNT_PATTERN,
  createPaymentInputOf,
  selectedOption,
  paymentOptionOf,
  PAYMENT_OPTIONS,
  type OptionName,
} from './payment-options.ts';

/** Form for amount and method. Disabled once it is sent, until it is certain that nothing was created. */
export function OrderForm({ checkout }: { checkout: Checkout }) {
  const { order, trouble, pay } = checkout;
  const [optionName, setOptionName] = useState(() => selectedOption(order.input));
  const mistakes = mistakesIn(trouble);
  const { currency, hint, asksPhone } = paymentOptionOf(optionName);

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const text = (name: string) => String(fields.get(name) ?? '').trim();
    pay(createPaymentInputOf(order, optionName, { value: text('value'), phone: text('phone') }));
  };

  return (
    <form onSubmit={submit}>
      <fieldset disabled={order.input !== undefined}>
        <legend>How do you want to pay?</legend>
        <div className="ways">
          {Object.entries(PAYMENT_OPTIONS).map(([name, { label }]) => (
            <label key={name}>
              <input
                type="radio"
                name="way"
                value={name}
                checked={name === optionName}
                onChange={() => setOptionName(name as OptionName)}
              />
              {label}
            </label>
          ))}
        </div>
        <p className="hint">{hint}</p>
        <Field
          name="value"
          label={`Amount in ${currency}`}
          mistake={mistakes['amount.value']}
          defaultValue={order.input?.amount.value ?? '25.00'}
          inputMode="decimal"
          pattern={AMOUNT_PATTERN}
          title="An amount such as 25.00"
        />
        {asksPhone && (
          <Field
            name="phone"
            label="Your phone number"
            mistake={mistakes['method.upi.phone']}
            defaultValue={order.input?.method.upi?.phone ?? ''}
            type="tel"
            autoComplete="tel"
            placeholder="+919876543210"
          />
        )}
        <button className="main">Pay</button>
      </fieldset>
    </form>
  );
}
