import { BothWays } from '../prepared/support/both-ways';
import { FAILING, FOUND, MISSING, nodeId } from '../prepared/support/transactions';

const ENTITIES = `query Entities__payments__1($representations: [_Any!]!) {
  _entities(representations: $representations) {
    ... on PaymentResource { __typename id status amount { currency value } nextAction { __typename } }
    ... on UpiPayment { upiLink state }
    ... on PayoutResource { id outcome: status error { code } }
  }
}`;

let gateway: BothWays;

beforeAll(async () => {
  gateway = await BothWays.start({ SUBGRAPH: 'on' });
});

const refer = (kind: 'payment' | 'payout', ids: readonly string[]) =>
  ids.map((id) => ({
    __typename: kind === 'payment' ? 'PaymentResource' : 'PayoutResource',
    id: nodeId(kind, id),
  }));

test.each([
  ['every payment', refer('payment', FOUND.payment.slice(0, 100))],
  ['every payout', refer('payout', FOUND.payout.slice(0, 100))],
  ['what is not there beside what is', refer('payment', [MISSING, ...FOUND.payment.slice(0, 2)])],
  ['what fails beside what does not', refer('payment', [...FAILING, ...FOUND.payment.slice(0, 2)])],
  ['nothing', []],
  ['what is no entity', [{ __typename: 'Query', id: 'x' }]],
])('a prepared _entities answers as Apollo does: %s', async (_about, representations) => {
  const { body } = await gateway.expectSame({ query: ENTITIES, variables: { representations } });
  expect(body).toContain('"_entities":[');
});

test('a prepared _service answers as Apollo does', async () => {
  const { body } = await gateway.expectSame({ query: '{ _service { sdl } }' });
  expect(body).toContain('extend schema @link');
});
