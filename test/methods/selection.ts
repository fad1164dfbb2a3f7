import { getNamedType, isInterfaceType, isObjectType, isUnionType, type GraphQLNamedType } from 'graphql';
import { gatewaySchema } from '../../src/resolvers';

export const schema = gatewaySchema();

/** Returns a selection of all fields of a type, recursively; empty for scalars and enums. */
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

export const WHOLE_PAYMENT = selectionOf('Payment');

export const WHOLE_PAYOUT = selectionOf('Payout');

export const NEXT_ACTION = `{ ... on PaymentResource { nextAction ${selectionOf('NextAction')} } }`;

const FAILURES = `... on UserError { code message } ... on InvalidInputError { fields { path rule message } }`;

export const createPayment = (selection = WHOLE_PAYMENT): string =>
  `mutation ($input: CreatePaymentInput!) {
    createPayment(input: $input) { __typename ... on PaymentSuccess { replayed payment ${selection} } ${FAILURES} }
  }`;

export const confirmPayment = (selection = WHOLE_PAYMENT): string =>
  `mutation ($input: ConfirmPaymentInput!) {
    confirmPayment(input: $input) { __typename ... on PaymentSuccess { replayed payment ${selection} } ${FAILURES} }
  }`;

export const createPayout = (selection = WHOLE_PAYOUT): string =>
  `mutation ($input: CreatePayoutInput!) {
    createPayout(input: $input) { __typename ... on PayoutSuccess { replayed payout ${selection} } ${FAILURES} }
  }`;

const BY_IDS = '($channel: UUID!, $transactionId: UUID, $externalId: String)';
const WITH_IDS = '(channel: $channel, transactionId: $transactionId, externalId: $externalId)';

export const lookUpPayment = (selection = WHOLE_PAYMENT): string =>
  `query ${BY_IDS} { payment${WITH_IDS} ${selection} }`;

export const lookUpPayout = (selection = WHOLE_PAYOUT): string =>
  `query ${BY_IDS} { payout${WITH_IDS} ${selection} }`;
