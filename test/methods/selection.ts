import { getNamedType, isInterfaceType, isObjectType, isUnionType, type GraphQLNamedType } from 'graphql';
import { gatewaySchema } from '../../src/resolvers';

/** The schema as callers see it. */
export const schema = gatewaySchema();

/** A selection of every field of a type, all the way down; empty for scalars and enums. */
function everyField(type: GraphQLNamedType): string {
  if (isUnionType(type)) {
    const members = type.getTypes().map((member) => `... on ${member.name} ${everyField(member)}`);
    return `{ __typename ${members.join(' ')} }`;
  }
  if (!isObjectType(type) && !isInterfaceType(type)) return '';
  const fields = Object.values(type.getFields());
  return `{ ${fields.map((field) => `${field.name} ${everyField(getNamedType(field.type))}`).join(' ')} }`;
}

function selectionOf(name: string): string {
  const type = schema.getType(name);
  if (!type) throw new Error(`The schema has no type ${name}.`);
  return everyField(type);
}

/** Every field of every payment, whichever type it is. */
export const WHOLE_PAYMENT = selectionOf('Payment');

/** Every field of every payout, whichever type it is. */
export const WHOLE_PAYOUT = selectionOf('Payout');

const FAILURES = `... on UserError { code message } ... on InvalidInputError { fields { path rule message } }`;

/** A createPayment that selects this of the payment. */
export const createPayment = (selection = WHOLE_PAYMENT): string =>
  `mutation ($input: CreatePaymentInput!) {
    createPayment(input: $input) { __typename ... on PaymentSuccess { replayed payment ${selection} } ${FAILURES} }
  }`;

/** A confirmPayment that selects this of the payment. */
export const confirmPayment = (selection = WHOLE_PAYMENT): string =>
  `mutation ($input: ConfirmPaymentInput!) {
    confirmPayment(input: $input) { __typename ... on PaymentSuccess { replayed payment ${selection} } ${FAILURES} }
  }`;

/** A createPayout that selects this of the payout. */
export const createPayout = (selection = WHOLE_PAYOUT): string =>
  `mutation ($input: CreatePayoutInput!) {
    createPayout(input: $input) { __typename ... on PayoutSuccess { replayed payout ${selection} } ${FAILURES} }
  }`;

const BY_IDS = '($channel: UUID!, $transactionId: UUID, $externalId: String)';
const WITH_IDS = '(channel: $channel, transactionId: $transactionId, externalId: $externalId)';

/** A lookup of a payment that selects this of it. */
export const lookUpPayment = (selection = WHOLE_PAYMENT): string =>
  `query ${BY_IDS} { payment${WITH_IDS} ${selection} }`;

/** A lookup of a payout that selects this of it. */
export const lookUpPayout = (selection = WHOLE_PAYOUT): string =>
  `query ${BY_IDS} { payout${WITH_IDS} ${selection} }`;
