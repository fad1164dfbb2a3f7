import { getNamedType, isInterfaceType, isObjectType, isUnionType, type GraphQLNamedType } from 'graphql';
import { buildGatewaySchema } from '../../src/resolvers';

export const schema = buildGatewaySchema();

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

const selectionOf = (name: string): string => everyField(schema.getType(name)!);

export const WHOLE_PAYMENT = selectionOf('Payment');

export const WHOLE_PAYOUT = selectionOf('Payout');

export const NEXT_ACTION = `{ ... on PaymentResource { nextAction ${selectionOf('NextAction')} } }`;

const FAILURES = `... on UserError { code message } ... on InvalidInputError { fields { path rule message } }`;

const mutation = (name: string, kind: 'Payment' | 'Payout', selection: string): string =>
  `mutation ($input: ${name[0]?.toUpperCase()}${name.slice(1)}Input!) {
    ${name}(input: $input) { __typename ... on ${kind}Success { replayed ${kind.toLowerCase()} ${selection} } ${FAILURES} }
  }`;

export const createPayment = (selection = WHOLE_PAYMENT): string =>
  mutation('createPayment', 'Payment', selection);

export const confirmPayment = (selection = WHOLE_PAYMENT): string =>
  mutation('confirmPayment', 'Payment', selection);

export const createPayout = (selection = WHOLE_PAYOUT): string =>
  mutation('createPayout', 'Payout', selection);

const BY_IDS = '($channel: UUID!, $transactionId: UUID, $externalId: String)';
const WITH_IDS = '(channel: $channel, transactionId: $transactionId, externalId: $externalId)';

export const lookUpPayment = (selection = WHOLE_PAYMENT): string =>
  `query ${BY_IDS} { payment${WITH_IDS} ${selection} }`;

export const lookUpPayout = (selection = WHOLE_PAYOUT): string =>
  `query ${BY_IDS} { payout${WITH_IDS} ${selection} }`;
