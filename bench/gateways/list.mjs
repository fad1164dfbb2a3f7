// The gateways of this folder that `npm run bench` measures. An entry of this list, and of bench/peers/list.mjs:
//   name, what           short name and one-line description
//   unsigned             true if it cannot sign; the service does not check its requests
//   start({ port, serviceUrl, folder })   the program: { command, args, env, cwd }; `folder` is for its own files
//   requests             what to send per workload: { path, body, method = 'POST', headers }; a missing workload is
//                        skipped. one(id), hot(id), page(ids), create(number), tiny()
//   check(work, answer)  throws if a parsed response is not what was requested
import { readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { CLIENT_KEY, clientKeysFile } from '../journal/client-key.mjs';
import { environment } from './credentials.mjs';
import {
  AMOUNT,
  aliased,
  CHANNEL,
  checkPayment,
  COMMON,
  EXPECTED,
  externalIdOf,
  operation,
  UPI,
} from './workloads.mjs';

const PAGE = 100;
const TINY = '{ __typename }';
const CREATED = { channel: CHANNEL, redirectUrl: EXPECTED.redirectUrl };
const here = (name) => path.join(import.meta.dirname, name);
const root = path.resolve(import.meta.dirname, '..', '..');
const node = (program, options, more, flags = []) => ({
  command: process.execPath,
  args: [...flags, ...[program].flat()],
  env: { ...environment(options), ...more },
  cwd: root,
});

const floor = {
  name: 'floor',
  what: 'a bare proxy on node:http and undici that signs the call and relays the JSON; no GraphQL',
  start: (options) => node(here('baseline-proxy.mjs'), options),
  requests: {
    one: (id) => lookUp(id),
    hot: (id) => lookUp(id),
    create: (number) => ({
      path: '/create',
      body: JSON.stringify({
        channel: CHANNEL,
        amount: AMOUNT,
        external_id: externalIdOf(number),
        payment_method: { type: 'upi' },
      }),
    }),
    tiny: () => ({ method: 'GET', path: '/tiny' }),
  },
  check(work, answer) {
    if (work === 'tiny') return;
    const { channel, redirect_url: redirectUrl, payment_method: method } = answer;
    checkPayment({ channel, redirectUrl }, CREATED);
    if (work !== 'create') checkPayment({ upiId: method.upi_id }, { upiId: EXPECTED.upiId });
  },
};
const lookUp = (id) => ({ method: 'GET', path: `/lookup?channel=${CHANNEL}&transaction_id=${id}` });

const authorization = { authorization: `Bearer ${CLIENT_KEY}` };
const ask = (query, variables) => operation(query, variables, authorization);
const SELECTION = `{ __typename ... on PaymentResource { ${COMMON} } ... on UpiPayment { ${UPI} } }`;
const ONE = `query One($channel: UUID!, $id: UUID!) { payment(channel: $channel, transactionId: $id) ${SELECTION} }`;
const MANY = `query Page($channel: UUID!, $ids: [UUID!]!) {
  payments(channel: $channel, transactionIds: $ids) ${SELECTION}
}`;
const CREATE = `mutation Create($input: CreatePaymentInput!) {
  createPayment(input: $input) {
    __typename
    ... on PaymentSuccess { payment ${SELECTION} }
    ... on UserError { code message }
  }
}`;

const own = {
  requests: {
    one: (id) => ask(ONE, { channel: CHANNEL, id }),
    hot: (id) => ask(ONE, { channel: CHANNEL, id }),
    page: (ids) => ask(MANY, { channel: CHANNEL, ids }),
    create: (number) =>
      ask(CREATE, {
        input: {
          idempotencyKey: `key-${number}`,
          channel: CHANNEL,
          amount: AMOUNT,
          externalId: externalIdOf(number),
          method: { redirect: 'UPI' },
        },
      }),
    tiny: () => ask(TINY),
  },
  check(work, { data }) {
    if (work === 'one' || work === 'hot') checkPayment(data.payment);
    if (work === 'page') data.payments.forEach((payment) => checkPayment(payment));
    if (work === 'create') checkPayment(data.createPayment.payment, CREATED);
  },
};

/** Node.js options that `npm start` uses. */
const startFlags = () =>
  JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
    .scripts.start.split(' ')
    .filter((word) => word.startsWith('--'));

/** Settings with all features on; the rate limit counts requests, but is too high to reject any. */
const settings = (folder) => ({
  CLIENT_KEYS_FILE: clientKeysFile(),
  RATE_LIMIT_PER_MINUTE: '100000000',
  AUDIT_LOG_FILE: path.join(folder, 'audit.log'),
  DATABASE_URL: `file:${path.join(folder, 'journal.db')}`,
  LOG_LEVEL: 'info',
});

const paygraph = {
  ...own,
  name: 'paygraph',
  what: 'this gateway as `npm start` runs it: client keys, limits, audit log, journal on SQLite, log to a file',
  start: (options) =>
    node([path.join(root, 'bin', 'paygraph.mjs'), 'start'], options, settings(options.folder), startFlags()),
};

const withoutJournal = {
  ...own,
  name: 'paygraph without journal',
  what: 'the same with a journal that keeps nothing, which only this benchmark can have',
  only: ['create', 'create alone'],
  start: (options) => node(here('without-journal.mjs'), options, settings(options.folder)),
};

const FLAT = `{ __typename ${COMMON} ... on UpiPayment { ${UPI} } }`;
const APOLLO_ONE = `query One($channel: ID!, $id: ID!) { payment(channel: $channel, transactionId: $id) ${FLAT} }`;
const APOLLO_CREATE = `mutation Create($input: CreatePaymentInput!) { createPayment(input: $input) ${FLAT} }`;
const apolloPage = aliased(PAGE, (id) => `payment(channel: $channel, transactionId: ${id}) ${FLAT}`);

const apollo = {
  name: 'Apollo Server',
  what: 'startStandaloneServer, type definitions and resolvers that sign and fetch, as its documentation starts it',
  start: (options) => node(here('apollo.mjs'), options),
  requests: {
    one: (id) => operation(APOLLO_ONE, { channel: CHANNEL, id }),
    hot: (id) => operation(APOLLO_ONE, { channel: CHANNEL, id }),
    page: (ids) => operation(apolloPage.query, apolloPage.variablesOf(ids)),
    create: (number) =>
      operation(APOLLO_CREATE, {
        input: { channel: CHANNEL, amount: AMOUNT, externalId: externalIdOf(number), redirect: 'upi' },
      }),
    tiny: () => operation(TINY),
  },
  check(work, { data }) {
    if (work === 'one' || work === 'hot') checkPayment(data.payment);
    if (work === 'page') Object.values(data).forEach((payment) => checkPayment(payment));
    if (work === 'create') checkPayment(data.createPayment, CREATED);
  },
};

export const gateways = [floor, paygraph, withoutJournal, apollo];
