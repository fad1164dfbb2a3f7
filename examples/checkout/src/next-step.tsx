import type { NextActionFieldsFragment, PaymentFieldsFragment } from '@paygraph/client';
import encodeQR from 'qr';
import { UtrForm } from './utr-form.tsx';

interface NextStepProps {
  payment: PaymentFieldsFragment;
  action: NextActionFieldsFragment;
}

/** Shows the next action of the payer. Does not compile if the schema has a new kind of action. */
export function NextStep({ payment, action }: NextStepProps) {
  switch (action.__typename) {
    case 'RedirectAction':
      return (
        <p>
          <a className="main" href={action.url}>
            Go to the payment page
          </a>
        </p>
      );
    case 'ScanQrCodeAction':
      return (
        <figure>
          <img src={action.qrCodeImage} alt="QR code to scan with your banking app" />
          <figcaption>Scan it. This page shows it when your money has arrived.</figcaption>
        </figure>
      );
    case 'ProvideUtrAction':
      return (
        <>
          <UpiTarget {...action} />
          <UtrForm payment={payment} action={action} />
        </>
      );
    case 'AwaitProviderAction':
      return <p>Your payment is being checked. You need not do anything; this page goes on by itself.</p>;
    case 'ProvideCodeAction':
    case 'ConfirmTransferAction':
    case 'PayVirtualAccountAction':
      // These are actions of methods that this shop does not offer.
      return <p>Please write to us: this page cannot go on with your payment.</p>;
    default:
      return action satisfies never;
  }
}

/** Shows the UPI id as text, as a link for apps on this phone, and as a QR code for another phone. */
function UpiTarget({ upiId, upiLink }: { upiId: string | null; upiLink: string | null }) {
  // Because upiLink comes from the service, only a UPI link is shown as a link.
  const link = upiLink?.startsWith('upi:') ? upiLink : null;
  return (
    <>
      {upiId && (
        <p>
          Pay to <strong>{upiId}</strong>
        </p>
      )}
      {link && (
        <figure>
          <img
            src={`data:image/svg+xml,${encodeURIComponent(encodeQR(link, 'svg'))}`}
            alt="QR code to scan with your UPI app"
          />
          <figcaption>
            Scan it, or <a href={link}>open your UPI app</a>.
          </figcaption>
        </figure>
      )}
    </>
  );
}
