import { useState, type FormEvent } from 'react';
import { Field } from './field.tsx';
import { mistakesIn } from './errors.ts';
import type { Checkout } from './use-checkout.ts';
import { AMOUNT, inputOf, selectedWay, wayOf, WAYS, type WayName } from './payment-options.ts';

/** Form for amount and method. Disabled once it is sent, until it is certain that nothing was created. */
export function OrderForm({ checkout }: { checkout: Checkout }) {
  const { order, trouble, pay } = checkout;
  const [way, setWay] = useState(() => selectedWay(order.input));
  const mistakes = mistakesIn(trouble);
  const { currency, hint, asksPhone } = wayOf(way);

  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    const text = (name: string) => String(fields.get(name) ?? '').trim();
    pay(inputOf(order, way, { value: text('value'), phone: text('phone') }));
  };

  return (
    <form onSubmit={submit}>
      <fieldset disabled={order.input !== undefined}>
        <legend>How do you want to pay?</legend>
        <div className="ways">
          {Object.entries(WAYS).map(([name, { label }]) => (
            <label key={name}>
              <input
                type="radio"
                name="way"
                value={name}
                checked={name === way}
                onChange={() => setWay(name as WayName)}
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
          pattern={AMOUNT}
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
