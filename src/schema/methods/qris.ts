import { ObjectType } from 'type-graphql';
import { ScanQrCodeAction } from '../next-action';
import { NullableField } from '../nullable-field';
import { PaymentResource } from '../payment';
import { qrCodeAsSvgDataUri } from '../qr-code';
import { ServiceField, presentOrNull, mapLazy, type Lazy } from '../lazy-field';
import { readVerbatim } from '../../redaction/text';
import { PaymentDataField } from './free-fields';
import { defineMethod } from './method-definition';

@ObjectType({ implements: PaymentResource, description: 'A payment by QR code (spec 2.5).' })
export class QrisPayment extends PaymentResource {
  @ServiceField('The payload of the QR code; null if not sent.', { parse: readVerbatim })
  qrCode?: Lazy<string>;

  @NullableField(
    'The payload as an image: an SVG data URI. Null if there is no payload or it is too long for a QR code.',
  )
  get qrCodeImage(): Lazy<string> {
    return mapLazy(this.qrCode, qrCodeAsSvgDataUri);
  }

  @PaymentDataField() paymentData?: Record<string, unknown>;
}

export const qris = defineMethod('qris', {
  payment: {
    description: 'QR code (QRIS, Indonesia).',
    paymentClass: QrisPayment,
    currency: 'IDR',
    redirectDescription: 'The payer scans the code on the hosted page or in nextAction. IDR.',
    nextAction: (payment: QrisPayment) => {
      const qrCode = presentOrNull(payment.qrCode);
      const qrCodeImage = qrCode && qrCodeAsSvgDataUri(qrCode);
      if (!qrCodeImage) return null;
      const pollAfterMs = payment.pollAfterMsByPhase.payer;
      return Object.assign(new ScanQrCodeAction(), { qrCode, qrCodeImage, pollAfterMs });
    },
    sandbox: {
      type: 'qris',
      currency: 'IDR',
      redirectFields: [],
      directFlow: { required: [] },
      echoedFields: [],
      addedFields: ({ amount, pseudoRandomDigits }) => ({
        qr_code: `00020101021226610014ID.SANDBOX.WWW0118${pseudoRandomDigits(18, 'qris')}5204541153033605405${amount.value}5802ID6304${pseudoRandomDigits(4, 'crc')}`,
      }),
    },
  },
});
