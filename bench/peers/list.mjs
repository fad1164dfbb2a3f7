// The peers that `npm run bench` measures; the entries are described in bench/gateways/list.mjs.
import path from 'node:path';
import process from 'node:process';
import { environment } from '../gateways/credentials.mjs';
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
} from '../gateways/workloads.mjs';
import { writeConfiguration } from './tailcall.mjs';

const PAGE = 100;
const here = import.meta.dirname;
const packaged = (...names) => path.join(here, 'node_modules', ...names);
const node = (args, options) => ({
  command: process.execPath,
  args,
  env: environment(options),
  cwd: here,
});

/** Returns the requests of every workload for a schema, given its lookup and create with their types and input. */
function requestsOf({ idType = 'ID!', lookUp, create, inputType = 'CreatePaymentInput!', inputOf }) {
  const one = `query One($channel: ${idType}, $id: ${idType}) { ${lookUp('$id')} }`;
  const page = aliased(PAGE, lookUp);
  const pageText = page.query.replaceAll('ID!', idType);
  const createText = `mutation Create($input: ${inputType}) { ${create} }`;
  return {
    one: (id) => operation(one, { channel: CHANNEL, id }),
    hot: (id) => operation(one, { channel: CHANNEL, id }),
    page: (ids) => operation(pageText, page.variablesOf(ids)),
    create: (number) => operation(createText, { input: inputOf(externalIdOf(number)) }),
    tiny: () => operation('{ __typename }'),
  };
}

/** Returns a function that checks responses; `read` converts a payment of the schema. */
const checkWith =
  (read) =>
  (work, { data }) => {
    if (work === 'tiny') return;
    const { redirectUrl, channel } = EXPECTED;
    const expected = work === 'create' ? { redirectUrl, channel } : EXPECTED;
    for (const payment of Object.values(data)) checkPayment(read(payment), expected);
  };

const FLAT = `{ __typename ${COMMON} ... on UpiPayment { ${UPI} } }`;
/** Requests and check for the schema of schema.mjs. */
const handWritten = {
  requests: requestsOf({
    lookUp: (id) => `payment(channel: $channel, transactionId: ${id}) ${FLAT}`,
    create: `createPayment(input: $input) ${FLAT}`,
    inputOf: (externalId) => ({ channel: CHANNEL, amount: AMOUNT, externalId, redirect: 'upi' }),
  }),
  check: checkWith((payment) => payment),
};

const mercurius = {
  ...handWritten,
  name: 'mercurius',
  what: 'mercurius with jit under Fastify; hand-written resolvers that sign and fetch by undici, and coalesce lookups in flight',
  start: (options) => node(['mercurius.mjs'], options),
};

const yoga = {
  ...handWritten,
  name: 'GraphQL Yoga',
  what: 'graphql-yoga with @envelop/graphql-jit on node:http; the same resolvers',
  start: (options) => node(['yoga.mjs'], options),
};

/** Returns the input of a create for schemas that use the service's own field names. */
const wireInput = (externalId) => ({
  channel: CHANNEL,
  amount: AMOUNT,
  external_id: externalId,
  payment_method: { type: 'upi' },
});

const WIRE = `{
  transaction_id channel status amount { currency value received } redirect_url create_date error { code message }
  payment_method { __typename ... on Upi { upi_id upi_link state email first_name last_name phone } }
}`;

const hive = {
  name: 'Hive Gateway',
  what: 'a supergraph made of an OpenAPI document, jit on, requests signed by a hook; fields named as the service does',
  start: (options) =>
    node(
      [
        packaged('@graphql-hive', 'gateway', 'dist', 'bin.js'),
        'supergraph',
        '-c',
        path.join(here, 'hive.mjs'),
      ],
      options,
    ),
  requests: requestsOf({
    idType: 'String!',
    lookUp: (id) => `payment(channel: $channel, transaction_id: ${id}) ${WIRE}`,
    create: `createPayment(input: $input) ${WIRE}`,
    inputType: 'CreatePayment_Input!',
    inputOf: wireInput,
  }),
  check: checkWith(({ channel, redirect_url: redirectUrl, payment_method: method }) => ({
    channel,
    redirectUrl,
    upiId: method.upi_id,
    phone: method.phone,
  })),
};

const NESTED = `{ ${COMMON} method { __typename ... on upi { ${UPI} } } }`;

const tailcall = {
  name: 'Tailcall',
  what: 'Tailcall 1.0.0 (Rust), lookups in flight coalesced; unsigned, as it cannot sign, and operations are not validated',
  unsigned: true,
  start: (options) => ({
    command: packaged('@tailcallhq', 'core-linux-x64-gnu', 'bin', 'tailcall'),
    args: ['start', writeConfiguration(options)],
    env: {
      ...environment(options),
      TAILCALL_LOG_LEVEL: 'error',
      TAILCALL_TRACKER: 'false',
      // Folder of the state of its update check; with a new folder Tailcall does not check for updates.
      XDG_CACHE_HOME: options.folder,
    },
    cwd: options.folder,
  }),
  requests: requestsOf({
    lookUp: (id) => `payment(channel: $channel, transactionId: ${id}) ${NESTED}`,
    create: `createPayment(input: $input) ${NESTED}`,
    inputOf: wireInput,
  }),
  check: checkWith(({ method, ...common }) => ({ ...common, ...method })),
};

export const peers = [mercurius, yoga, hive, tailcall];
