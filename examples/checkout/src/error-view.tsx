import { troubleText } from './texts.ts';
import { hasCreatedNothing } from './errors.ts';
import type { Checkout } from './use-checkout.ts';

/** Shows the error of a create, and what the payer can do. */
export function TroubleView({ checkout: { trouble, isBusy, resend, startOver } }: { checkout: Checkout }) {
  if (!trouble) return null;
  const isConflict = 'failure' in trouble && trouble.failure.__typename === 'IdempotencyConflictError';
  return (
    <div role="alert" className="trouble">
      <p>{troubleText(trouble)}</p>
      {isConflict && <button onClick={startOver}>New order</button>}
      {!isConflict && !hasCreatedNothing(trouble) && (
        <button onClick={resend} disabled={isBusy}>
          Try again
        </button>
      )}
    </div>
  );
}
