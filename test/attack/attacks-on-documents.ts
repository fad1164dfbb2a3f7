import fc from 'fast-check';
import type { Attack } from './attack';
import { Tries } from './attack';
import { BOMBS } from './bombs';
import { MUTATIONS, anyBody, anyDocument, brokenDocument, mutationCall } from './fuzz';
import { faultsOfGraphql } from './judge';
import { CLIENT_KEY } from '../support/credentials';
import { OURS, bearer, type Target } from './target';

const hasData = (body: string): boolean => /^\{"data":\{/.test(body);

/** Rounds, so that what is only slow the first time is seen as well as what is slow always. */
const ROUNDS = 3;

/** Longer addresses are refused before anybody reads them. */
const LONGEST_ADDRESS = 12_000;

/** In the address of a GET, behind comments that decoders understand in their own ways. */
async function bombsByGet(target: Target, tries: Tries): Promise<void> {
  for (const [what, query] of BOMBS) {
    const text = encodeURIComponent(query);
    if (text.length > LONGEST_ADDRESS) continue;
    for (const comment of ['', '%23%ff%0A', '%23%zz%0A', '%23%%0A', '%23%c0%af%0A']) {
      const headers = { 'apollo-require-preflight': '1', ...bearer(CLIENT_KEY) };
      const answer = await target.send({ headers }, `?query=${comment}${text}`);
      tries.add(`GET: ${comment}${what}`, [
        ...faultsOfGraphql(answer),
        hasData(answer.body) ? 'was carried out' : undefined,
      ]);
    }
  }
}

const bombs: Attack = {
  name: 'document bombs',
  run: async (target) => {
    const tries = new Tries();
    let slowest = { ms: 0, what: '' };
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [what, query] of BOMBS) {
        const startedAt = performance.now();
        // A comment makes it another document: what was decided before is not known of it.
        const answer = await target.ask(`${query}\n#${round}`);
        const ms = performance.now() - startedAt;
        if (ms > slowest.ms) slowest = { ms, what };
        tries.add(what, [...faultsOfGraphql(answer), hasData(answer.body) ? 'was carried out' : undefined]);
      }
    }
    await bombsByGet(target, tries);
    const created = target.service.ledger.entries.filter(({ description }) => description.startsWith('bomb'));
    if (created.length > 0) tries.through.push(`${created.length} payments were made`);
    return Object.assign(tries, { note: `slowest answer ${Math.round(slowest.ms)} ms: ${slowest.what}` });
  },
};

/** Sends what comes at random until the time is over. */
async function fuzz(target: Target, bodies: fc.Arbitrary<string>, seed: number, ms: number): Promise<Tries> {
  const tries = new Tries();
  const until = performance.now() + ms;
  for (let batch = 0; performance.now() < until; batch += 1) {
    for (const body of fc.sample(bodies, { seed: seed + batch, numRuns: 50 })) {
      const answer = await target.post(body);
      tries.add(`seed ${seed + batch}: ${body.slice(0, 120)}`, faultsOfGraphql(answer));
      if (performance.now() > until) break;
    }
    target.service.seen.length = 0;
  }
  return tries;
}

const asBody = (query: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  query.map((text) => JSON.stringify({ query: text }));

const fuzzes: Attack[] = [
  ['inputs at random', fc.oneof(...MUTATIONS.map(mutationCall)).map((body) => JSON.stringify(body))] as const,
  ['documents at random', fc.oneof(asBody(anyDocument), asBody(brokenDocument))] as const,
  ['bodies at random', anyBody] as const,
].map(([name, bodies]) => ({
  name,
  share: 0.05,
  run: (target, { seed, ms }) => fuzz(target, bodies, seed, ms),
}));

/** A card number in each spelling, and how it would be found again. */
const CARDS = ['5555555555554444', '5555 5555 5555 4444', '5555-5555-5555-4444'];
const CARD = /5555[ ._-]?5555[ ._-]?5555[ ._-]?4444/;

/** Where somebody may put a card number who makes a mistake. */
const MISTAKES: readonly (readonly [string, (card: string) => string])[] = [
  ['a literal', (card) => JSON.stringify({ query: `{ node(id: ${JSON.stringify(card)}) { id } }` })],
  [
    'a literal of a card',
    (card) =>
      JSON.stringify({
        query: `mutation { createPayment(input: { method: { card: { pan: "${card}" } } }) { __typename } }`,
      }),
  ],
  ['a number', (card) => JSON.stringify({ query: `{ node(id: ${card}) { id } }` })],
  ['a name', (card) => JSON.stringify({ query: `{ p${card.replace(/\D/g, '_')} }` })],
  ['a syntax error', (card) => JSON.stringify({ query: `{ ${card}` })],
  [
    'a wrong type',
    (card) =>
      JSON.stringify({
        query: 'query ($c: UUID!) { payment(channel: $c) { __typename } }',
        variables: { c: card },
      }),
  ],
  [
    'an unknown field',
    (card) =>
      JSON.stringify({
        query: 'query ($i: CreatePaymentInput!) { __typename }',
        variables: { i: { [card]: card } },
      }),
  ],
  [
    'an enum',
    (card) =>
      JSON.stringify({
        query:
          'query ($o: AttemptOutcome) { attempts(channel: "x", outcome: $o) { pageInfo { hasNextPage } } }',
        variables: { o: card },
      }),
  ],
  ['the name of the operation', (card) => JSON.stringify({ query: '{ __typename }', operationName: card })],
  ['broken JSON', (card) => `{"query":"{ __typename }","variables":{"pan":"${card}"`],
  ['an extension', (card) => JSON.stringify({ query: '{ __typename }', extensions: { pan: card } })],
  ['a hash', (card) => JSON.stringify({ extensions: { persistedQuery: { version: 1, sha256Hash: card } } })],
  ['an id of a document', (card) => JSON.stringify({ documentId: card })],
  ...['idempotencyKey', 'externalId', 'description', 'returnUrl'].map(
    (field) =>
      [
        `the field ${field}`,
        (card: string) =>
          JSON.stringify({
            query:
              'mutation ($i: CreatePaymentInput!) { createPayment(input: $i) { ... on UserError { message } } }',
            variables: {
              i: {
                idempotencyKey: `echo-${field}`,
                channel: OURS,
                amount: { currency: 'INR', value: '-1' },
                method: { upi: { email: 'a@example.com' } },
                [field]: card,
              },
            },
          }),
      ] as const,
  ),
];

const echoes: Attack = {
  name: 'card numbers in wrong places',
  run: async (target) => {
    const tries = new Tries();
    for (const card of CARDS) {
      for (const [where, write] of MISTAKES) {
        const answer = await target.post(write(card));
        tries.add(where, [CARD.test(answer.body) ? 'comes back' : undefined]);
      }
    }
    const left = [
      ['the log', target.program.output()],
      ['the audit log', target.auditText()],
      ['the journal', (await target.store.bytes()).toString('latin1')],
    ] as const;
    for (const [where, text] of left) tries.add(where, [CARD.test(text) ? 'holds a card number' : undefined]);
    return tries;
  },
};

export const ATTACKS_ON_DOCUMENTS: readonly Attack[] = [bombs, echoes, ...fuzzes];
