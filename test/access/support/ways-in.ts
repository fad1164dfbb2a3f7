import { encodeNodeId } from '../../../src/schema/node';
import { DOCUMENTS, validCall, type Json } from '../../gateway/fixtures/calls';
import type { Kind, Names } from './ownership-rig';
import { OURS } from './rig';

/** One way to reach a transaction: a document, and its variables for the transaction of those names. */
export interface WayIn {
  about: string;
  field: string;
  kind: Kind;
  document: string;
  variables(names: Names): Json;
}

const nodeOf = ({ kind, transactionId }: Names): string =>
  encodeNodeId({ kind, channel: OURS, transactionId });

const FIELDS: Record<Kind, string> = {
  payment: '... on PaymentResource { transactionId status amount { value } } ... on UpiPayment { upiLink }',
  payout: '... on PayoutResource { transactionId status }',
};

const TYPE: Record<Kind, string> = { payment: 'PaymentResource', payout: 'PayoutResource' };

const lookups = (kind: Kind): WayIn[] => [
  ...(['transactionId', 'externalId', 'transactionId and externalId'] as const).map((by) => ({
    about: `${kind} by ${by}`,
    field: kind,
    kind,
    document: `query Q($c: UUID!, $t: UUID, $e: String) {
      ${kind}(channel: $c, transactionId: $t, externalId: $e) { ${FIELDS[kind]} } }`,
    variables: ({ transactionId, externalId }: Names) => ({
      c: OURS,
      ...(by !== 'externalId' && { t: transactionId }),
      ...(by !== 'transactionId' && { e: externalId }),
    }),
  })),
  {
    about: `${kind}s`,
    field: `${kind}s`,
    kind,
    document: `query Q($c: UUID!, $t: [UUID!]!) { ${kind}s(channel: $c, transactionIds: $t) { ${FIELDS[kind]} } }`,
    variables: ({ transactionId }) => ({ c: OURS, t: [transactionId] }),
  },
  {
    about: `node of a ${kind}`,
    field: 'node',
    kind,
    document: `query Q($id: ID!) { node(id: $id) { id ${FIELDS[kind]} } }`,
    variables: (names) => ({ id: nodeOf(names) }),
  },
  {
    about: `_entities of a ${kind}`,
    field: '_entities',
    kind,
    document: `query Q($r: [_Any!]!) { _entities(representations: $r) { ${FIELDS[kind]} } }`,
    variables: (names) => ({ r: [{ __typename: TYPE[kind], id: nodeOf(names) }] }),
  },
  {
    about: `attempt of a ${kind}`,
    field: 'attempt',
    kind,
    document: `query Q($k: ID!) { attempt(idempotencyKey: $k) { externalId ${kind} { ${FIELDS[kind]} } } }`,
    variables: ({ idempotencyKey }) => ({ k: idempotencyKey }),
  },
  {
    about: `attempts of a ${kind}, by every filter`,
    field: 'attempts',
    kind,
    document: `query Q($c: UUID!, $e: String, $o: AttemptOperation, $from: Timestamp, $to: Timestamp) {
      attempts(channel: $c, externalId: $e, operation: $o, outcome: SUCCEEDED, startedAfter: $from, startedBefore: $to) {
        edges { node { externalId transactionId amount { value } paymentMethod payoutMethod } } } }`,
    variables: ({ externalId }) => ({
      c: OURS,
      e: externalId,
      o: kind === 'payment' ? 'CREATE_PAYMENT' : 'CREATE_PAYOUT',
      from: '2020-01-01T00:00:00Z',
      to: '2099-01-01T00:00:00Z',
    }),
  },
];

/** Every way to one transaction that is a query or a mutation. */
export const WAYS_IN: WayIn[] = [
  ...lookups('payment'),
  ...lookups('payout'),
  {
    about: 'confirmPayment',
    field: 'confirmPayment',
    kind: 'payment',
    document: DOCUMENTS.confirmPayment,
    variables: ({ transactionId }) => ({
      input: { ...validCall('confirmPayment', 'upi').input, channel: OURS, transactionId },
    }),
  },
];

const watch = (kind: Kind): WayIn => ({
  about: `${kind}Updated`,
  field: `${kind}Updated`,
  kind,
  document: `subscription S($c: UUID!, $t: UUID!) { ${kind}Updated(channel: $c, transactionId: $t) { ${FIELDS[kind]} } }`,
  variables: ({ transactionId }) => ({ c: OURS, t: transactionId }),
});

/** Every way to one transaction that is a subscription. */
export const WAYS_TO_WATCH: WayIn[] = [watch('payment'), watch('payout')];

/** Root fields that lead to no transaction but what the same caller creates, or list none but its own. */
export const NO_WAY_IN = ['_service', 'createPayment', 'createPayout'];
