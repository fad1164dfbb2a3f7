import { Field, ObjectType } from 'type-graphql';
import { ScanQrCodeAction } from '../next-action';
import { PaymentResource } from '../payment';
import { drawQrCode } from '../qr-code';
import { JSONObject } from '../scalars';
import { ServiceField, known, mapLazy, type Lazy } from '../lazy-field';
import { passThrough } from '../../redaction/text';
import { readPaymentData } from './payment-data';
import type { MethodDefinition } from './method-definition';

@ObjectType({ implements: PaymentResource, description: 'A payment by QR code (spec 2.5).' })
export class QrisPayment extends PaymentResource {
  @ServiceField('The payload of the QR code; null when the service did not say.', { read: passThrough })
  qrCode?: Lazy<string>;

  @Field(() => String, {
    nullable: true,
    description:
      'The payload drawn as a QR code: an SVG data URI, ready for the src of an image. Null when there is no payload, or when it is too long for a QR code.',
  })
  get qrCodeImage(): Lazy<string> {
    return mapLazy(this.qrCode, drawQrCode);
  }

  @ServiceField(
    'What the service sent as payment_data, whose structure it does not document: an object as it is, anything else under "value". Null when absent.',
    { type: () => JSONObject, ...readPaymentData },
  )
  paymentData?: Record<string, unknown>;
}

export const qris: MethodDefinition = {
  payment: {
    name: 'QRIS',
    type: 'qris',
    description: 'QR code (QRIS, Indonesia).',
    payment: QrisPayment,
    currency: 'IDR',
    redirect: 'The payer scans the code, which the answer carries too. IDR.',
    nextAction: (payment: QrisPayment) => {
      const qrCode = known(payment.qrCode);
      const qrCodeImage = qrCode && drawQrCode(qrCode);
      if (!qrCodeImage) return null;
      const pollAfterMs = payment.pollAfter.payer;
      return Object.assign(new ScanQrCodeAction(), { qrCode, qrCodeImage, pollAfterMs });
    },
    sandbox: {
      type: 'qris',
      currency: 'IDR',
      redirect: [],
      direct: { required: [] },
      echo: [],
      adds: ({ amount, digits }) => ({
        qr_code: `00020101021226610014ID.SANDBOX.WWW0118${digits(18, 'qris')}5204541153033605405${amount.value}5802ID6304${digits(4, 'crc')}`,
      }),
    },
  },
};
