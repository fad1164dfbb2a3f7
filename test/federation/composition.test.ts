import { composeServices } from '@apollo/composition';
import { buildSchema, parse } from 'graphql';
import { parse as parseYaml } from 'yaml';
import { sample, subgraphText } from './support/samples';

/** Composes this gateway's subgraph with another. */
const composed = (orders: string) =>
  composeServices([
    { name: 'payments', url: 'http://payments.example', typeDefs: parse(subgraphText()) },
    { name: 'orders', url: 'http://orders.example', typeDefs: parse(orders) },
  ]);

const LINK =
  'extend schema @link(url: "https://specs.apollo.dev/federation/v2.3", import: ["@key", "@shareable"])';

/** The types of a union, each as a subgraph knows it that has only its id. */
function members(union: string): string {
  const [, names = ''] = new RegExp(`^union ${union} = (.*)$`, 'm').exec(subgraphText()) ?? [];
  return names
    .split(' | ')
    .map((name) => `type ${name} @key(fields: "id", resolvable: false) { id: ID! }`)
    .join('\n');
}

test('a subgraph that refers to payments by their interface composes, without a hint', () => {
  const { errors, hints, supergraphSdl } = composed(sample('orders.graphql'));
  expect({ errors, hints }).toEqual({ errors: undefined, hints: [] });
  expect(supergraphSdl).toMatch(/type UpiPayment implements PaymentResource & Node[^}]*\border: Order\b/);
});

test('a subgraph that knows every payment type composes, and is then bound to that list', () => {
  const names = [...members('Payment').matchAll(/type (\w+)/g)].map(([, name]) => name);
  expect(names).toContain('OtherPayment');
  const union = `union Payment = ${names.join(' | ')}`;
  const { errors } = composed(`${LINK}\ntype Query { paid: Payment }\n${union}\n${members('Payment')}`);
  expect(errors).toBeUndefined();
});

test('a subgraph with nodes and pages of its own composes', () => {
  const { errors } = composed(`${LINK}
    type Query { customers: [Customer!]! page: PageInfo! }
    interface Node { id: ID! }
    type Customer implements Node @key(fields: "id") { id: ID! }
    type PageInfo @shareable { hasNextPage: Boolean! endCursor: String }`);
  expect(errors).toBeUndefined();
});

test('the subgraph says everything that the schema says, but @oneOf', () => {
  const published = subgraphText();
  expect(published).not.toContain('@oneOf');
  const types = Object.keys(
    buildSchema(
      published.replace(/^extend schema.*$/m, '').replaceAll(/ @(key\(fields: "id"\)|shareable)/g, ''),
    ).getTypeMap(),
  );
  expect(types.filter((name) => name.startsWith('_') && !name.startsWith('__'))).toEqual([]);
  expect(types).toEqual(expect.arrayContaining(['CardNumber', 'PaymentMethodInput', 'Subscription']));
});

test("the sample of a router's configuration forwards what the gateway needs, under the name that was composed", () => {
  expect(sample('compose.mjs')).toContain("name: 'payments'");
  expect(parseYaml(sample('router.yaml'))).toEqual({
    headers: { subgraphs: { payments: { request: [{ propagate: { named: 'authorization' } }] } } },
    include_subgraph_errors: { subgraphs: { payments: true } },
  });
});
