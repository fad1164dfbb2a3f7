// Counts journal calls per lookup, without background work.
import { randomUUID } from 'node:crypto';
import { CHANNEL } from './caller.mjs';

const PAYMENT = '{ __typename ... on PaymentResource { id transactionId method status } }';
const PAYOUT = '{ __typename ... on PayoutResource { id transactionId method status } }';
const byId = (field, selection) =>
  `query ($channel: UUID!, $id: UUID!) { ${field}(channel: $channel, transactionId: $id) ${selection} }`;
const byExternalId = (field, selection) =>
  `query ($channel: UUID!, $id: String!) { ${field}(channel: $channel, externalId: $id) ${selection} }`;
const several = (field, selection) =>
  `query ($channel: UUID!, $ids: [UUID!]!) { ${field}(channel: $channel, transactionIds: $ids) ${selection} }`;
const NODE = `query ($id: ID!) { node(id: $id) {
  __typename ... on PaymentResource { paymentStatus: status } ... on PayoutResource { payoutStatus: status }
} }`;

const one = () => ({ channel: CHANNEL, id: randomUUID() });
const ten = () => ({ channel: CHANNEL, ids: Array.from({ length: 10 }, () => randomUUID()) });

/** Lookups with the number of journal calls that each may make: none, or one per payout. */
const LOOKUPS = [
  { name: 'payment by transactionId', query: byId('payment', PAYMENT), variables: one, allowed: 0 },
  { name: 'payment by externalId', query: byExternalId('payment', PAYMENT), variables: one, allowed: 0 },
  { name: 'payments, 10 of them', query: several('payments', PAYMENT), variables: ten, allowed: 0 },
  { name: 'payout by transactionId', query: byId('payout', PAYOUT), variables: one, allowed: 1 },
  { name: 'payout by externalId', query: byExternalId('payout', PAYOUT), variables: one, allowed: 1 },
  { name: 'payouts, 10 of them', query: several('payouts', PAYOUT), variables: ten, allowed: 10 },
];

async function nodeOf(caller, field, selection) {
  const found = await caller.ask(byId(field, selection), one());
  return { name: `node, a ${field}`, query: NODE, variables: () => ({ id: found[field].id }) };
}

/** Runs every lookup once against a counting gateway; returns the journal calls of each. */
export async function countLookups(caller, gateway) {
  const nodes = [
    { ...(await nodeOf(caller, 'payment', PAYMENT)), allowed: 0 },
    { ...(await nodeOf(caller, 'payout', PAYOUT)), allowed: 1 },
  ];
  const counted = [];
  await gateway.ask();
  for (const { name, query, variables, allowed } of [...LOOKUPS, ...nodes]) {
    const data = await caller.ask(query, variables());
    if (Object.values(data).flat().includes(null)) throw new Error(`The lookup "${name}" found nothing.`);
    const calls = await gateway.ask();
    const total = Object.values(calls).reduce((sum, each) => sum + each, 0);
    const otherCalls = Object.keys(calls).filter((call) => call !== 'findByTransaction');
    counted.push({ name, calls, met: total <= allowed && otherCalls.length === 0 });
  }
  // Checks the counter itself: a create must be counted.
  await caller.create();
  const calls = await gateway.ask();
  if (calls.insertAttempt !== 1 || calls.recordOutcome !== 1)
    throw new Error(`The calls of a create were counted wrong: ${JSON.stringify(calls)}.`);
  return counted;
}
