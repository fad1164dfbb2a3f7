import fc from 'fast-check';
import { createInput } from '../support/caller';
import { CLIENT_KEY } from '../support/credentials';
import { BOMBS } from './expensive-documents';
import { MUTATIONS, anyBody, anyDocument, brokenDocument, mutationCall } from './fuzz';
import { faultsOfGraphql, type Judged } from './assert-safe-response';
import { Tries, bearer, type Attack } from './target';

const faultsOfBomb = (answer: Judged) => [
  ...faultsOfGraphql(answer),
  answer.body.startsWith('{"data":{') && 'was carried out',
];

/** Several rounds, because the first run of new code is slower. */
const ROUNDS = 3;

const LONGEST_ADDRESS = 12_000;

const bombs: Attack = {
  name: 'document bombs',
  run: async (target) => {
    const tries = new Tries();
    let slowest = { ms: 0, what: '' };
    for (let round = 0; round < ROUNDS; round += 1)
      for (const [what, query] of BOMBS) {
        const startedAt = performance.now();
        // A comment makes it a new document, which no cache has.
        const answer = await target.ask(`${query}\n#${round}`);
        const ms = performance.now() - startedAt;
        if (ms > slowest.ms) slowest = { ms, what };
        tries.add(what, ...faultsOfBomb(answer));
      }
    const headers = { 'apollo-require-preflight': '1', ...bearer(CLIENT_KEY) };
    for (const [what, query] of BOMBS) {
      const text = encodeURIComponent(query);
      if (text.length > LONGEST_ADDRESS) continue;
      // Comments that decoders interpret differently.
      for (const comment of ['', '%23%ff%0A', '%23%zz%0A', '%23%c0%af%0A'])
        tries.add(
          `GET: ${comment}${what}`,
          ...faultsOfBomb(await target.send({ headers }, `?query=${comment}${text}`)),
        );
    }
    const created = target.service.ledger.entries.filter(({ description }) => description.startsWith('bomb'));
    tries.add('the service', created.length > 0 && `made ${created.length} payments`);
    return Object.assign(tries, { note: `slowest answer ${Math.round(slowest.ms)} ms: ${slowest.what}` });
  },
};

/** Sends random bodies until the time is over. */
const fuzz = (name: string, bodies: fc.Arbitrary<string>): Attack => ({
  name,
  share: 0.05,
  run: async (target, { seed, ms }) => {
    const tries = new Tries();
    const until = performance.now() + ms;
    for (let batch = seed; performance.now() < until; batch += 1) {
      for (const body of fc.sample(bodies, { seed: batch, numRuns: 50 })) {
        tries.add(`seed ${batch}: ${body.slice(0, 120)}`, ...faultsOfGraphql(await target.post(body)));
        if (performance.now() > until) break;
      }
      target.service.requests.length = 0;
    }
    return tries;
  },
});

const calls = fc.oneof(...MUTATIONS.map(mutationCall));
const documents = fc.oneof(anyDocument, brokenDocument).map((query) => ({ query }));

/** A card number in several spellings. */
const CARDS = ['5555555555554444', '5555 5555 5555 4444', '5555-5555-5555-4444'];
const CARD = /5555[ ._-]?5555[ ._-]?5555[ ._-]?4444/;

const CREATE =
  'mutation ($i: CreatePaymentInput!) { createPayment(input: $i) { ... on UserError { message } } }';

/** A create with the card number in a field that refuses it. */
const createWith = (field: string, card: string): object => ({
  query: CREATE,
  variables: {
    i: createInput('payment', `echo-${field}`, { amount: { currency: 'INR', value: '-1' }, [field]: card }),
  },
});

const mistakes = (card: string): object[] => [
  { query: `{ node(id: ${JSON.stringify(card)}) { id } }` },
  { query: `mutation { createPayment(input: { method: { card: { pan: "${card}" } } }) { __typename } }` },
  { query: `{ node(id: ${card}) { id } }` },
  { query: `{ p${card.replace(/\D/g, '_')} }` },
  { query: `{ ${card}` },
  { query: 'query ($c: UUID!) { payment(channel: $c) { __typename } }', variables: { c: card } },
  { query: 'query ($i: CreatePaymentInput!) { __typename }', variables: { i: { [card]: card } } },
  {
    query: 'query ($o: AttemptOutcome) { attempts(channel: "x", outcome: $o) { pageInfo { hasNextPage } } }',
    variables: { o: card },
  },
  { query: '{ __typename }', operationName: card },
  { query: '{ __typename }', extensions: { pan: card } },
  { extensions: { persistedQuery: { version: 1, sha256Hash: card } } },
  { documentId: card },
  ...['idempotencyKey', 'externalId', 'description', 'returnUrl'].map((field) => createWith(field, card)),
];

const echoes: Attack = {
  name: 'card numbers in wrong places',
  run: async (target) => {
    const tries = new Tries();
    for (const card of CARDS) {
      const broken = `{"query":"{ __typename }","variables":{"pan":"${card}"`;
      for (const sent of [broken, ...mistakes(card).map((body) => JSON.stringify(body))])
        tries.add(sent, CARD.test((await target.post(sent)).body) && 'comes back');
    }
    const journal = (await target.store.bytes()).toString('latin1');
    for (const [where, text] of Object.entries({
      'the log': target.program.output(),
      'the audit log': target.auditText(),
      'the journal': journal,
    }))
      tries.add(where, CARD.test(text) && 'holds a card number');
    return tries;
  },
};

export const ATTACKS_ON_DOCUMENTS: readonly Attack[] = [
  bombs,
  echoes,
  fuzz(
    'inputs at random',
    calls.map((body) => JSON.stringify(body)),
  ),
  fuzz(
    'documents at random',
    documents.map((body) => JSON.stringify(body)),
  ),
  fuzz('bodies at random', anyBody),
];
