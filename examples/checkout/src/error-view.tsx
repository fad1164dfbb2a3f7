import { troubleText } from './texts.ts';
import { nothingCreated } from './errors.ts';
import type { Checkout } from './use-checkout.ts';

/** Shows the error of a create, and what the payer can do. */
export function TroubleView({ checkout: { trouble, busy, again, startOver } }: { checkout: Checkout }) {
  if (!trouble) return null;
  const isConflict = 'failure' in trouble && trouble.failure.__typename === 'IdempotencyConflictError';
  return (
    <div role="alert" className="trouble">
      <p>{troubleText(trouble)}</p>
      {isConflict && <button onClick={startOver}>New order</button>}
      {!isConflict && !nothingCreated(trouble) && (
        <button onClick={again} disabled={busy}>
          Try again
        </button>
      )}
    </div>
  );
}
