import { comment, indent, mutation, fragmentOn, payment, payout } from './documents';
import { payments, payouts } from './methods.json';

/** An example operation with variables. A placeholder such as {{payment}} stands for the id of an earlier create. */
export interface Example {
  /** Name of the GraphQL operation and of its tab. */
  name: string;
  title: string;
  query: string;
  variables: object;
}

export interface MethodExamples {
  /** GraphQL object type of the method, for example UpiPayment. */
  type: string;
  about: string;
  operations: Example[];
}

interface ExampleContext {
  /** The merchant channel of all examples. */
  channel: string;
  /** External id of the payment that the example CreateRedirect creates and the example LookUp looks up. */
  externalId: string;
  /** Returns a unique text, for example for an idempotency key. */
  uniqueText(): string;
}

/** Outcomes that the cents of an amount select in the sandbox: the most important ones of docs/sandbox.md. */
export const AMOUNT_RULES: readonly (readonly [cents: string, outcome: string])[] = [
  ['01', 'FAILED: the payment was declined'],
  ['05', 'FAILED: 3-D Secure authentication failed'],
  ['51', 'FAILED: insufficient funds'],
  ['54', 'FAILED: card expired'],
  ['59', 'FAILED: suspected fraud'],
  ['70', 'MISPAID: half received'],
  ['71', 'MISPAID: half too much'],
  ['75', 'never ends by itself'],
];

const REPLAY_HINT = 'Run it again: with the same key, the gateway creates nothing new.';

interface PaymentExample {
  name: string;
  title: string;
  comment: string;
  amount: { currency: string; value: string };
  method: object;
  externalId?: string;
  selection?: string;
}

const createPayment = (context: ExampleContext, example: PaymentExample): Example => ({
  name: example.name,
  title: example.title,
  query: mutation({ selection: payment('', ['RedirectAction']), ...example, field: 'createPayment' }),
  variables: {
    input: {
      idempotencyKey: context.uniqueText(),
      channel: context.channel,
      externalId: example.externalId ?? context.uniqueText(),
      amount: example.amount,
      method: example.method,
    },
  },
});

/** Returns a type's name without Payment or Payout, for example Upi for UpiPayment. */
const methodNameOf = (type: string): string => type.replace(/Pay(ment|out)$/, '');

type PaymentFacts = (typeof payments)[number];

const REDIRECT = 'Redirect';

const confirmPayment = (context: ExampleContext, { type, confirmation, fields }: PaymentFacts): Example => {
  const create = `Create${methodNameOf(type)}`;
  const name = `Confirm${methodNameOf(type)}`;
  return {
    name,
    title: 'Confirm',
    query: mutation({
      name,
      field: 'confirmPayment',
      comment: `Run ${create} first; the id of its payment is then filled in.`,
      selection: payment(fragmentOn(type, fields), ['AwaitProviderAction']),
    }),
    variables: { input: { channel: context.channel, transactionId: `{{${create}}}`, confirmation } },
  };
};

function paymentMethod(context: ExampleContext, facts: PaymentFacts): MethodExamples {
  const { type, about, fields, samples, confirmation } = facts;
  const operations = samples.map(({ currency, method, nextActions }) => {
    const redirect = 'redirect' in method;
    // If another example shows the method's fields, the redirect example omits them, because they are null at first.
    const methodFields = redirect && samples.length > 1 ? '' : fragmentOn(type, fields);
    return createPayment(context, {
      name: `Create${methodNameOf(type)}${redirect ? 'Redirect' : ''}`,
      title: redirect ? REDIRECT : 'Create',
      comment: `${about} ${REPLAY_HINT}`,
      selection: payment(methodFields, nextActions),
      amount: { currency, value: '100.00' },
      method,
    });
  });
  if (confirmation) operations.push(confirmPayment(context, facts));
  return { type, about, operations };
}

const payoutMethod = (
  context: ExampleContext,
  { type, about, fields, samples }: (typeof payouts)[number],
): MethodExamples => ({
  type,
  about,
  operations: samples.map(({ currency, method }) => ({
    name: `Create${type}`,
    title: 'Create',
    query: mutation({
      name: `Create${type}`,
      field: 'createPayout',
      comment: `${about} ${REPLAY_HINT}`,
      selection: payout(fragmentOn(type, fields)),
    }),
    variables: {
      input: {
        idempotencyKey: context.uniqueText(),
        channel: context.channel,
        externalId: context.uniqueText(),
        amount: { currency, value: '1500.00' },
        method,
      },
    },
  })),
});

const watch = (context: ExampleContext, kind: 'Payment' | 'Payout'): Example => {
  const word = kind.toLowerCase();
  return {
    name: `Watch${kind}`,
    title: `Watch the newest ${word}`,
    query: `${comment(`Live: the ${word} that was created last here, until it is COMPLETED or FAILED. The square button ends it.`)}
subscription Watch${kind}($channel: UUID!, $transactionId: UUID!) {
  ${word}Updated(channel: $channel, transactionId: $transactionId) {
    ${indent(kind === 'Payment' ? payment() : payout(), 2)}
  }
}
`,
    variables: { channel: context.channel, transactionId: `{{${word}}}` },
  };
};

const lookUp = ({ channel, externalId }: ExampleContext): Example => ({
  name: 'LookUp',
  title: 'Look up by external id',
  query: `${comment("Finds a payment by the shop's own id, here that of CreateRedirect. Null if there is none.")}
query LookUp($channel: UUID!, $externalId: String!) {
  payment(channel: $channel, externalId: $externalId) {
    ${indent(payment(), 2)}
  }
}
`,
  variables: { channel, externalId },
});

const attempts = ({ channel }: ExampleContext): Example => ({
  name: 'Attempts',
  title: 'What was created here',
  query: `${comment('Lists every create with its outcome, newest first, whether or not its response arrived. Null filters match all.')}
query Attempts($channel: UUID!, $outcome: AttemptOutcome, $operation: AttemptOperation, $after: String) {
  attempts(channel: $channel, outcome: $outcome, operation: $operation, first: 10, after: $after) {
    edges {
      node {
        idempotencyKey operation externalId outcome startedAt settledAt
        transactionId amount { currency value } paymentMethod payoutMethod
      }
    }
    pageInfo { hasNextPage endCursor }
  }
}
`,
  variables: { channel, outcome: null, operation: null, after: null },
});

/** Selection set of a change. Payout fields need aliases, because their types differ from those of payment fields. */
const CHANGE_SELECTION = `__typename
... on PaymentChange {
  cursor recordedAt transactionId externalId method
  previousStatus status state amount { currency value received }
}
... on PayoutChange {
  cursor recordedAt transactionId externalId payoutMethod: method
  previousPayoutStatus: previousStatus payoutStatus: status amount { currency value }
}`;

const changes = ({ channel }: ExampleContext): Example => ({
  name: 'Changes',
  title: 'What has changed',
  query: `${comment('Every status of every payment and payout of the channel, oldest first. Put endCursor into after to continue.')}
query Changes($channel: UUID!, $after: String) {
  changes(channel: $channel, after: $after, first: 20) {
    changes {
      ${indent(CHANGE_SELECTION, 3)}
    }
    endCursor
    hasMore
  }
}
`,
  variables: { channel, after: null },
});

const watchChanges = ({ channel }: ExampleContext): Example => ({
  name: 'WatchChanges',
  title: 'Watch all changes',
  query: `${comment('Live: every change after the cursor, then new ones; without a cursor from now on. The square button ends it.')}
subscription WatchChanges($channel: UUID!, $after: String) {
  changes(channel: $channel, after: $after) {
    ${indent(CHANGE_SELECTION, 2)}
  }
}
`,
  variables: { channel, after: null },
});

const WATCH_HINT = 'Then run WatchPayment: the status changes within 5 seconds.';

/** Returns all examples, with new idempotency keys. `tour`: the initial tabs, in the order in which to run them. */
export function createExamples(context: ExampleContext) {
  const methods = payments.map((facts) => paymentMethod(context, facts));
  const upi = methods.find(({ type }) => type === 'UpiPayment')?.operations ?? [];
  return {
    tour: [
      createPayment(context, {
        name: 'CreateRedirect',
        title: 'Create a payment with redirect',
        comment:
          'The payer pays on the hosted page, nextAction.url. Run WatchPayment, open that page and press Pay.',
        externalId: context.externalId,
        amount: { currency: 'EUR', value: '10.00' },
        method: { redirect: 'CARD' },
      }),
      watch(context, 'Payment'),
      ...upi
        .filter(({ title }) => title !== REDIRECT)
        .map((operation) => ({ ...operation, title: `${operation.title} UPI` })),
      createPayment(context, {
        name: 'Declined',
        title: 'A decline',
        comment: `In the sandbox cents choose the outcome: .51 is insufficient funds. A decline is data, no GraphQL error. ${WATCH_HINT}`,
        amount: { currency: 'EUR', value: '25.51' },
        method: { redirect: 'CARD' },
      }),
      createPayment(context, {
        name: 'Mispaid',
        title: 'A mispaid payment',
        comment: `In the sandbox cents choose the outcome: with .70 half the amount arrives; amount.received is what arrived. ${WATCH_HINT}`,
        amount: { currency: 'KZT', value: '100.70' },
        method: { redirect: 'C2C' },
      }),
      lookUp(context),
      ...payouts
        .filter(({ type }) => type === 'BkashPayout')
        .flatMap((facts) => payoutMethod(context, facts).operations)
        .map((operation) => ({ ...operation, title: 'Create a payout' })),
      changes(context),
      watchChanges(context),
    ],
    more: [watch(context, 'Payout'), attempts(context)],
    payments: methods,
    payouts: payouts.map((facts) => payoutMethod(context, facts)),
  };
}
