import { encodeNodeId } from '../../src/schema/node';
import { createInput } from '../support/caller';
import type { Forger } from './forged-tokens';
import type { Judged } from './assert-safe-response';
import { OURS, OWN_CHANNEL, READER, THEIRS, Tries, bearer, type Attack } from './target';

const LOOKUP = `query ($c: UUID!, $e: String) { payment(channel: $c, externalId: $e) { ... on PaymentResource { transactionId } } }`;

/** Problems of a response to a caller without valid credentials. */
const faultsOfStranger = ({ status, body }: Judged) => [
  status !== 401 && `status ${status}`,
  !body.includes('"UNAUTHENTICATED"') && 'not UNAUTHENTICATED',
  body.includes('"data"') && 'data',
];

const { key } = OWN_CHANNEL;
const KEYS = ['', ' ', 'null', '*', 'pgk_', `${key}x`, key.slice(0, -1), key.toUpperCase(), `${key} x`];
/** Header values that are not valid credentials. */
const HEADERS = [
  ...['', 'Bearer', key, `Token ${key}`, `Basic ${Buffer.from(`own:${key}`).toString('base64')}`],
  ...[`Bearer ${key}, Bearer ${key}`, `Bearer Bearer ${key}`],
];

const forgeries = (forger: Forger): Attack => ({
  name: 'forged tokens and keys',
  run: async (target) => {
    const tries = new Tries();
    const ask = (headers: Record<string, string>) => target.ask(LOOKUP, { c: OURS, e: 'x' }, headers);
    for (const [why, token] of forger.forged())
      tries.add(`a token ${why}`, ...faultsOfStranger(await ask(bearer(token))));
    for (const authorization of [...KEYS.map((wrong) => `Bearer ${wrong}`), ...HEADERS])
      tries.add(
        `Authorization: ${authorization.slice(0, 12)}`,
        ...faultsOfStranger(await ask({ authorization })),
      );
    tries.add('nothing', ...faultsOfStranger(await ask({})));
    // Control: shows that the attacks reached a gateway that accepts a good token.
    const { status } = await ask(bearer(forger.good()));
    tries.add('a good token', status !== 200 && `was refused with ${status}`);
    return tries;
  },
});

/** An operation that a client with few rights must not run. */
type Forbidden = readonly [what: string, query: string, variables: object];

/** Operations that read or change transactions of another merchant. */
function ofOthers(id: string, e: string): Forbidden[] {
  const t = { c: THEIRS, t: id };
  const reads = ([kind, type]: readonly ['payment' | 'payout', string]): Forbidden[] => {
    const fields = `{ ... on ${type}Resource { transactionId } }`;
    const n = encodeNodeId({ kind, channel: THEIRS, transactionId: id });
    const i = createInput(kind, `attack-${kind}`, { channel: THEIRS });
    const one = `query ($c: UUID!, $t: UUID) { ${kind}(channel: $c, transactionId: $t) ${fields} }`;
    const many = `query ($c: UUID!, $t: [UUID!]!) { ${kind}s(channel: $c, transactionIds: $t) ${fields} }`;
    const create = `mutation ($i: Create${type}Input!) { create${type}(input: $i) { __typename } }`;
    return [
      [`a ${kind} by its id`, one, t],
      [`${kind}s`, many, { c: THEIRS, t: [id] }],
      [`a node of a ${kind}`, 'query ($n: ID!) { node(id: $n) { id } }', { n }],
      [`a create of a ${kind}`, create, { i }],
    ];
  };
  const attempts = 'query ($c: UUID!) { attempts(channel: $c) { edges { node { idempotencyKey } } } }';
  const confirm = 'mutation ($i: ConfirmPaymentInput!) { confirmPayment(input: $i) { __typename } }';
  const confirmation = { channel: THEIRS, transactionId: id, confirmation: { upi: { utr: '123456789012' } } };
  return [
    ...([['payment', 'Payment'] as const, ['payout', 'Payout'] as const] as const).flatMap(reads),
    ['a payment by its external id', LOOKUP, { c: THEIRS, e }],
    ['a payment on upper case', LOOKUP, { c: THEIRS.toUpperCase(), e }],
    ['attempts', attempts, { c: THEIRS }],
    ['an attempt', '{ attempt(idempotencyKey: "theirs") { idempotencyKey } }', {}],
    ['a confirm', confirm, { i: confirmation }],
  ];
}

const channels: Attack = {
  name: "other channels' transactions",
  run: async (target) => {
    const tries = new Tries();
    const create = 'mutation ($i: CreatePaymentInput!) { createPayment(input: $i) { __typename } }';
    await target.ask(create, { i: createInput('payment', 'theirs', { channel: THEIRS }) });
    const [made] = target.service.created('theirs');
    if (!made) throw new Error('The payment of the other merchant was not made.');
    const { transactionId, externalId } = made;
    const blank = (body: string): string => body.replace(/"requestId":"[^"]*"/g, '');
    const before = target.service.requests.length;
    const ofNothing = ofOthers(OURS, 'no such order');
    for (const [place, [what, query, variables]] of ofOthers(transactionId, externalId).entries()) {
      const { body } = await target.ask(query, variables, bearer(key));
      const other = await target.ask(query, ofNothing[place]?.[2], bearer(key));
      tries.add(
        what,
        (body.includes(transactionId) || body.includes(externalId)) && 'shows it',
        body.includes('"theirs"') && 'shows the attempt',
        blank(body) !== blank(other.body) && 'is answered otherwise than for nothing',
      );
    }
    const asked = target.service.requests
      .slice(before)
      .filter(({ parameters, json }) =>
        `${parameters.get('channel')}${String(json['channel'])}`.includes(THEIRS),
      );
    tries.add('the service', asked.length > 0 && `was asked ${asked.length} times`);
    return tries;
  },
};

const scopes: Attack = {
  name: 'more than the scopes allow',
  run: async (target) => {
    const tries = new Tries();
    const before = target.service.ledger.entries.length;
    const beyond = ofOthers(OURS, 'x').filter(([name]) => /payout|create|confirm/.test(name));
    for (const [what, query, variables] of beyond) {
      const { body } = await target.ask(query, variables, bearer(READER.key));
      tries.add(what, !body.includes('"FORBIDDEN"') && `answered ${body.slice(0, 80)}`);
    }
    const made = target.service.ledger.entries.length - before;
    tries.add('the service', made > 0 && `made ${made}`);
    return tries;
  },
};

export const attacksOnAccess = (forger: Forger): readonly Attack[] => [forgeries(forger), channels, scopes];
