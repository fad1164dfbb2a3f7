import { isWireObject, type WireObject } from '../../shared/wire-object';

/** Where `payment_data` stands and how it is read: the service names the field and does not show it (spec 2.5, note 1). */
export const readPaymentData = {
  from: (method: WireObject, answer: WireObject): unknown => method['payment_data'] ?? answer['payment_data'],
  read: (value: unknown): WireObject => (isWireObject(value) ? value : { value }),
};
