import { randomUUID } from 'node:crypto';
import { OperationTypeNode, type GraphQLSchema } from 'graphql';
import { encodeNodeId } from '../../../src/schema/node';
import { WireClient } from '../../subscriptions/support/wire-client';
import { DOCUMENTS, redirectCall, validCall, type Json, type MutationCall } from '../../support/calls';
import type { Kind } from '../../support/caller';
import { ALL_SCOPES, OWN_SCOPES } from '../../support/credentials';
import type { GraphqlResult, TestClient } from '../../support/gateway';
import { OURS } from './harness';

/** The identifiers by which a call names a transaction. */
export interface Names {
  channel: string;
  transactionId: string;
  externalId: string;
  idempotencyKey: string;
}

export const unusedNames = (channel = OURS): Names => ({
  channel,
  transactionId: randomUUID(),
  externalId: randomUUID(),
  idempotencyKey: randomUUID(),
});

/** A call of one root field, and the scopes that allow it. */
export interface RootCall {
  name: string;
  field: string;
  kind: Kind;
  document: string;
  variables(names: Names): Json;
  /** Any one of these scopes is enough. */
  anyOf: string[];
  /** A scope that is required in addition. */
  also?: string;
}

type Row = Omit<RootCall, 'kind' | 'anyOf'>;

const nodeOf = (kind: Kind, { channel, transactionId }: Names): string =>
  encodeNodeId({ kind, channel, transactionId });

const FIELDS: Record<Kind, string> = {
  payment: '... on PaymentResource { transactionId status amount { value } } ... on UpiPayment { upiLink }',
  payout: '... on PayoutResource { transactionId status }',
};
const TYPE: Record<Kind, string> = { payment: 'PaymentResource', payout: 'PayoutResource' };

const lookups = (kind: Kind): Row[] => [
  ...(['transactionId', 'externalId', 'transactionId and externalId'] as const).map((by) => ({
    name: `${kind} by ${by}`,
    field: kind,
    document: `query Q($c: UUID!, $t: UUID, $e: String) {
      ${kind}(channel: $c, transactionId: $t, externalId: $e) { ${FIELDS[kind]} } }`,
    variables: ({ channel, transactionId, externalId }: Names) => ({
      c: channel,
      ...(by !== 'externalId' && { t: transactionId }),
      ...(by !== 'transactionId' && { e: externalId }),
    }),
  })),
  {
    name: `${kind}s`,
    field: `${kind}s`,
    document: `query Q($c: UUID!, $t: [UUID!]!) { ${kind}s(channel: $c, transactionIds: $t) { ${FIELDS[kind]} } }`,
    variables: ({ channel, transactionId }) => ({ c: channel, t: [transactionId] }),
  },
  {
    name: `node of a ${kind}`,
    field: 'node',
    document: `query Q($id: ID!) { node(id: $id) { id ${FIELDS[kind]} } }`,
    variables: (names) => ({ id: nodeOf(kind, names) }),
  },
  {
    name: `_entities of a ${kind}`,
    field: '_entities',
    document: `query Q($r: [_Any!]!) { _entities(representations: $r) { ${FIELDS[kind]} } }`,
    variables: (names) => ({ r: [{ __typename: TYPE[kind], id: nodeOf(kind, names) }] }),
  },
];

const attempts = (kind: Kind): Row[] => [
  {
    name: `attempt of a ${kind}`,
    field: 'attempt',
    document: `query Q($k: ID!) { attempt(idempotencyKey: $k) { externalId ${kind} { ${FIELDS[kind]} } } }`,
    variables: ({ idempotencyKey }) => ({ k: idempotencyKey }),
  },
  {
    name: `attempts of a ${kind} by every filter`,
    field: 'attempts',
    document: `query Q($c: UUID!, $e: String, $o: AttemptOperation, $from: Timestamp, $to: Timestamp) {
      attempts(channel: $c, externalId: $e, operation: $o, outcome: SUCCEEDED, startedAfter: $from, startedBefore: $to) {
        edges { node { externalId transactionId amount { value } paymentMethod payoutMethod } } } }`,
    variables: ({ channel, externalId }) => ({
      c: channel,
      e: externalId,
      o: kind === 'payment' ? 'CREATE_PAYMENT' : 'CREATE_PAYOUT',
      from: '2020-01-01T00:00:00Z',
      to: '2099-01-01T00:00:00Z',
    }),
  },
];

const CHANGE: Record<Kind, string> = { payment: 'PaymentChange', payout: 'PayoutChange' };

const changes = (kind: Kind): Row => ({
  name: `changes of ${kind}s`,
  field: 'changes',
  document: `query Q($c: UUID!) { changes(channel: $c, first: 500) {
    changes { ... on ${CHANGE[kind]} { transactionId externalId ${kind} { ${FIELDS[kind]} } } } endCursor hasMore } }`,
  variables: ({ channel }) => ({ c: channel }),
});

const watch = (kind: Kind): Row => ({
  name: `${kind}Updated`,
  field: `${kind}Updated`,
  document: `subscription S($c: UUID!, $t: UUID!) { ${kind}Updated(channel: $c, transactionId: $t) { ${FIELDS[kind]} } }`,
  variables: ({ channel, transactionId }) => ({ c: channel, t: transactionId }),
});

const SEES_ATTEMPTS = [...ALL_SCOPES, ...OWN_SCOPES].filter((scope) =>
  /^pay.*:(read|read:own|create)$/.test(scope),
);

const SEES_CHANGES = SEES_ATTEMPTS.filter((scope) => !scope.endsWith(':create'));

const readScopes = (kind: Kind): string[] => [`${kind}s:read`, `${kind}s:read:own`];

const reads = (kind: Kind): RootCall[] => [
  ...[...lookups(kind), watch(kind)].map((row) => ({ ...row, kind, anyOf: readScopes(kind) })),
  ...attempts(kind).map((row) => ({ ...row, kind, anyOf: SEES_ATTEMPTS })),
  { ...changes(kind), kind, anyOf: SEES_CHANGES },
];

export const CALLS_OF_EXISTING: RootCall[] = [
  ...reads('payment'),
  ...reads('payout'),
  {
    name: 'confirmPayment',
    field: 'confirmPayment',
    kind: 'payment',
    document: DOCUMENTS.confirmPayment,
    variables: ({ channel, transactionId }) => ({
      input: { ...validCall('confirmPayment', 'upi').input, channel, transactionId },
    }),
    anyOf: ['payments:confirm', 'payments:confirm:own'],
  },
];

const creating = (name: string, call: () => MutationCall, also?: string): RootCall => {
  const { mutation } = call();
  const kind = mutation === 'createPayment' ? 'payment' : 'payout';
  return {
    name: `${mutation} ${name}`,
    field: mutation,
    kind,
    document: DOCUMENTS[mutation],
    variables: ({ channel, idempotencyKey, externalId }) => ({
      input: { ...call().input, channel, idempotencyKey, externalId },
    }),
    anyOf: [`${kind}s:create`],
    ...(also && { also }),
  };
};

/** Gets no result while nothing changes. Its results are tested in test/changes. */
const WATCH_CHANGES: RootCall = {
  name: 'changes, as a subscription',
  field: 'changes',
  kind: 'payment',
  document: `subscription S($c: UUID!, $after: String) { changes(channel: $c, after: $after) { __typename } }`,
  variables: ({ channel }) => ({ c: channel }),
  anyOf: SEES_CHANGES,
};

/** Calls of every root field. A field has several calls if its arguments or its scopes differ. */
export const ROOT_CALLS: RootCall[] = [
  ...CALLS_OF_EXISTING,
  WATCH_CHANGES,
  creating('by UPI', () => validCall('createPayment', 'upi')),
  creating('by redirect', () => redirectCall('CARD')),
  creating('with a card number', () => validCall('createPayment', 'card'), 'cards:direct'),
  creating('to a bank', () => validCall('createPayout', 'bankTransfer')),
  creating('with a card number', () => validCall('createPayout', 'card'), 'cards:direct'),
];

/** Calls of the root fields that a gateway without SUBGRAPH has. */
export const GATEWAY_CALLS = ROOT_CALLS.filter(({ field }) => field !== '_entities');

export const byName = (calls: readonly RootCall[]) => calls.map((call) => [call.name, call] as const);

/** Returns the root fields of a schema, each with its path, for example `query payment`. */
export const rootFieldsOf = (schema: GraphQLSchema) =>
  Object.values(OperationTypeNode).flatMap((operation) =>
    Object.values(schema.getRootType(operation)?.getFields() ?? {}).map((field) =>
      Object.assign(field, { path: `${operation} ${field.name}` }),
    ),
  );

/** Returns the operation and the root field of a call, for example `query payment`. */
export const pathOf = ({ document, field }: RootCall): string => `${/^\w+/.exec(document)?.[0]} ${field}`;

export const isSubscription = ({ document }: RootCall): boolean => document.startsWith('subscription');

/** Sends a call; a subscription gets its first message. */
export async function sendRootCall(
  client: TestClient,
  call: RootCall,
  names: Names,
  headers: { authorization: string },
): Promise<Partial<Pick<GraphqlResult<unknown>, 'data' | 'errors'>>> {
  const variables = call.variables(names);
  if (!isSubscription(call)) return client.request(call.document, variables, headers);
  const request = { query: call.document, variables };
  const wire = await WireClient.ready(client.url, headers);
  wire.subscribe('a', request);
  // An allowed subscription to changes gets no result. Subscription b follows it and always gets an error.
  if (call === WATCH_CHANGES)
    wire.subscribe('b', { ...request, variables: { ...variables, after: 'invalid' } });
  const { id, type, payload } = await wire.next();
  wire.socket.close();
  await wire.closed;
  if (id === 'b') return { data: null };
  return (type === 'error' ? { errors: payload } : payload) as object;
}
