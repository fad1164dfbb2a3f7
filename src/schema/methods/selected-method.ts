import type { WireObject } from '../../shared/wire-object';
import { toWireFields } from '../../shared/wire-object';
import {
  givenArm,
  type ConfirmationInput,
  type PaymentMethodInput,
  type PayoutMethodInput,
} from './method-types';
import { paymentRooms, payoutRooms } from './index';
import type { MethodArm, PaymentMethodDefinition, PayoutMethodDefinition } from './method-definition';

/** Which method a caller chose, and what goes into the request beside its type. */
export interface SelectedMethod<R> {
  room: R;
  /** The arm of the @oneOf input that was given. */
  arm: string;
  /** The wire type: the room's, or the caller's own word. */
  type: string;
  /** The fields beside type, in wire spelling. */
  fields: WireObject;
  /** Type and fields, as far as they make one request differ from another: no security code. */
  canonical: WireObject;
  /** Values among them that must never come back from the service to a caller. */
  secrets: readonly string[];
}

function found<R>(room: R | undefined): R {
  if (!room)
    throw new Error('An arm of a @oneOf input belongs to no room: the registry and the schema disagree.');
  return room;
}

type Facts = Pick<SelectedMethod<never>, 'type' | 'fields' | 'canonical' | 'secrets'>;

/** What a method that needs nothing but its type puts into the request. */
const typeOnly = (type: string): Facts => ({ type, fields: {}, canonical: { type }, secrets: [] });

/** What an arm puts into the request. */
function armFacts(type: string, arm: MethodArm | undefined, given: object): Facts {
  const fields = arm?.toWire ? arm.toWire(given) : toWireFields(given);
  const kept = Object.entries(fields).filter(([name]) => !arm?.neverKept?.includes(name));
  return {
    type,
    fields,
    canonical: { type, ...Object.fromEntries(kept) },
    secrets: (arm?.secretFields ?? []).map((name) => String(fields[name])),
  };
}

/** The method of a payment to create. */
export function chosenPaymentMethod(method: PaymentMethodInput): SelectedMethod<PaymentMethodDefinition> {
  const { arm, given } = givenArm(method);
  if (typeof given === 'string') {
    const room = found(paymentRooms.find(({ name }) => name === given));
    return { arm, room, ...typeOnly(room.type) };
  }
  const room = found(paymentRooms.find(({ input }) => input?.arm === arm));
  return { arm, room, ...armFacts(room.type, room.input, given) };
}

/** The method of a payout to create; `shown` is what the payout may show of it. */
export function chosenPayoutMethod(
  method: PayoutMethodInput,
): SelectedMethod<PayoutMethodDefinition> & { shown: object } {
  const { arm, given } = givenArm(method);
  if (typeof given === 'string') {
    const room = found(payoutRooms.find(({ name }) => name === given));
    return { arm, room, ...typeOnly(room.type), shown: {} };
  }
  const room = found(payoutRooms.find(({ input }) => input?.arm === arm));
  const type = room.input?.typeOf?.(given) ?? room.type;
  return { arm, room, ...armFacts(type, room.input, given), shown: room.show?.(given) ?? {} };
}

const ARMS_WITH_CARD_NUMBERS: ReadonlySet<string> = new Set(
  [...paymentRooms, ...payoutRooms].flatMap(({ input }) =>
    input?.secretFields?.includes('pan') ? input.arm : [],
  ),
);

/** Whether the chosen method hands in a full card number: the caller then has to comply with PCI-DSS. */
export function takesCardNumber(method: PaymentMethodInput | PayoutMethodInput): boolean {
  return ARMS_WITH_CARD_NUMBERS.has(givenArm(method).arm);
}

/** The method by whose arm a payment is confirmed. */
export function chosenConfirmation(confirmation: ConfirmationInput): SelectedMethod<PaymentMethodDefinition> {
  const { arm, given } = givenArm(confirmation);
  const room = found(paymentRooms.find((candidate) => candidate.confirmation?.arm === arm));
  const fields = room.confirmation?.toWire(Object(given)) ?? {};
  return { arm, room, ...typeOnly(room.type), fields };
}
