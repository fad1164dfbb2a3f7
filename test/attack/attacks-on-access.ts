import { createInput } from '../exactly-once/support/caller';
import { Tries, type Attack } from './attack';
import type { Forger } from './forgeries';
import { OURS, OWN_CHANNEL, READER, THEIRS, bearer, type Target } from './target';

const LOOKUP = `query ($c: UUID!, $e: String) { payment(channel: $c, externalId: $e) { ... on PaymentResource { transactionId } } }`;

/** Why an answer is not that of a gateway that does not know who is asking. */
function faultsOfStranger({ status, body }: { status: number; body: string }): (string | undefined)[] {
  return [
    status === 401 ? undefined : `status ${status}`,
    body.includes('"UNAUTHENTICATED"') ? undefined : 'not UNAUTHENTICATED',
    body.includes('"data"') ? 'data' : undefined,
  ];
}

const KEYS = ['', ' ', 'null', 'undefined', '*', 'pgk_', `${OWN_CHANNEL.key}x`, OWN_CHANNEL.key.slice(0, -1)];

/** Whole header values that are no credentials. */
const HEADERS = [
  '',
  'Bearer',
  'Bearer ',
  `Basic ${Buffer.from(`own:${OWN_CHANNEL.key}`).toString('base64')}`,
  OWN_CHANNEL.key,
  `Token ${OWN_CHANNEL.key}`,
  `Bearer ${OWN_CHANNEL.key}, Bearer ${OWN_CHANNEL.key}`,
  `Bearer ${OWN_CHANNEL.key} x`,
  `Bearer Bearer ${OWN_CHANNEL.key}`,
  `Bearer ${OWN_CHANNEL.key.toUpperCase()}`,
];

const forgeries = (forger: Forger): Attack => ({
  name: 'forged tokens and keys',
  run: async (target) => {
    const tries = new Tries();
    const ask = (headers: Record<string, string>) => target.ask(LOOKUP, { c: OURS, e: 'x' }, headers);
    for (const [why, token] of forger.forged())
      tries.add(`a token ${why}`, faultsOfStranger(await ask(bearer(token))));
    for (const key of KEYS)
      tries.add(`the key ${JSON.stringify(key)}`, faultsOfStranger(await ask(bearer(key))));
    for (const authorization of HEADERS)
      tries.add(
        `Authorization: ${authorization.slice(0, 12)}`,
        faultsOfStranger(await ask({ authorization })),
      );
    tries.add('nothing', faultsOfStranger(await ask({})));
    // Not a way in, but what shows that the others were tried at an open door.
    const good = await ask(bearer(forger.good()));
    if (good.status !== 200) tries.through.push(`a good token was refused with ${good.status}`);
    return tries;
  },
});

/** Something that may not be asked by a client with few rights. */
type Forbidden = readonly [what: string, query: string, variables: object];

const createOf = (kind: 'Payment' | 'Payout'): string =>
  `mutation ($i: Create${kind}Input!) { create${kind}(input: $i) { __typename } }`;

/** All that looks at or moves what is another merchant's. */
function ofOthers(id: string, externalId: string): Forbidden[] {
  const create = (kind: 'payment' | 'payout', key: string) => ({
    i: createInput(kind, `attack-${key}`, { channel: THEIRS }),
  });
  const nodeId = (kind: string): string =>
    Buffer.from(JSON.stringify([kind, THEIRS, id])).toString('base64url');
  const one = 'transactionId';
  return [
    [
      'a payment by its id',
      `query ($c: UUID!, $t: UUID) { payment(channel: $c, transactionId: $t) { ... on PaymentResource { ${one} } } }`,
      { c: THEIRS, t: id },
    ],
    ['a payment by its external id', LOOKUP, { c: THEIRS, e: externalId }],
    ['a payment on upper case', LOOKUP, { c: THEIRS.toUpperCase(), e: externalId }],
    [
      'payments',
      `query ($c: UUID!, $t: [UUID!]!) { payments(channel: $c, transactionIds: $t) { ... on PaymentResource { ${one} } } }`,
      { c: THEIRS, t: [id] },
    ],
    [
      'a payout',
      `query ($c: UUID!, $t: UUID) { payout(channel: $c, transactionId: $t) { ... on PayoutResource { ${one} } } }`,
      { c: THEIRS, t: id },
    ],
    [
      'payouts',
      `query ($c: UUID!, $t: [UUID!]!) { payouts(channel: $c, transactionIds: $t) { ... on PayoutResource { ${one} } } }`,
      { c: THEIRS, t: [id] },
    ],
    ['a node', `query ($n: ID!) { node(id: $n) { id } }`, { n: nodeId('payment') }],
    [
      'attempts',
      `query ($c: UUID!) { attempts(channel: $c) { edges { node { idempotencyKey } } } }`,
      { c: THEIRS },
    ],
    ['an attempt', `{ attempt(idempotencyKey: "theirs") { idempotencyKey } }`, {}],
    ['a create of a payment', createOf('Payment'), create('payment', 'a')],
    ['a create of a payout', createOf('Payout'), create('payout', 'b')],
    [
      'a confirm',
      'mutation ($i: ConfirmPaymentInput!) { confirmPayment(input: $i) { __typename } }',
      { i: { channel: THEIRS, transactionId: id, confirmation: { upi: { utr: '123456789012' } } } },
    ],
  ];
}

/** Makes a payment of the other merchant, as a client that may. */
async function theirPayment(target: Target): Promise<{ id: string; externalId: string }> {
  await target.ask(createOf('Payment'), { i: createInput('payment', 'theirs', { channel: THEIRS }) });
  const [made] = target.service.created('theirs');
  if (!made) throw new Error('The payment of the other merchant was not made.');
  return { id: made.transactionId, externalId: made.externalId };
}

const channels: Attack = {
  name: "other channels' transactions",
  run: async (target) => {
    const tries = new Tries();
    const { id, externalId } = await theirPayment(target);
    const blank = (body: string): string => body.replace(/"requestId":"[^"]*"/g, '');
    const before = target.service.seen.length;
    for (const [what, query, variables] of ofOthers(id, externalId)) {
      const answer = await target.ask(query, variables, bearer(OWN_CHANNEL.key));
      const nothing = JSON.stringify(variables).replaceAll(id, OURS).replaceAll(externalId, 'no such order');
      const ofNothing = await target.post(
        `{"query":${JSON.stringify(query)},"variables":${nothing}}`,
        bearer(OWN_CHANNEL.key),
      );
      tries.add(what, [
        answer.body.includes(id) || answer.body.includes(externalId) ? 'shows it' : undefined,
        answer.body.includes('"theirs"') ? 'shows the attempt' : undefined,
        // node() is told apart by an id that only this gateway makes.
        blank(answer.body) === blank(ofNothing.body) ? undefined : 'is answered otherwise than for nothing',
      ]);
    }
    const asked = target.service.seen
      .slice(before)
      .filter(({ query, json }) => `${query.get('channel')}${String(json['channel'])}`.includes(THEIRS));
    tries.add('the service', [asked.length > 0 ? `was asked ${asked.length} times` : undefined]);
    return tries;
  },
};

const scopes: Attack = {
  name: 'more than the scopes allow',
  run: async (target) => {
    const tries = new Tries();
    const before = target.service.ledger.entries.length;
    for (const [what, query, variables] of ofOthers(OURS, 'x').filter(([name]) =>
      /payout|create|confirm/.test(name),
    )) {
      const { body } = await target.ask(query, variables, bearer(READER.key));
      tries.add(what, [body.includes('"FORBIDDEN"') ? undefined : `answered ${body.slice(0, 80)}`]);
    }
    const made = target.service.ledger.entries.length - before;
    tries.add('the service', [made > 0 ? `made ${made}` : undefined]);
    return tries;
  },
};

export const attacksOnAccess = (forger: Forger): readonly Attack[] => [forgeries(forger), channels, scopes];
