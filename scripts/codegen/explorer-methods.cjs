// Generates explorer/methods.json, the data of the explorer's examples, from the registry and the golden bodies.
const { getNamedType, isLeafType } = require('graphql');
const schema = require('./schema.cjs')();
const { paymentMethods, payoutMethods } = require('../../dist/schema/methods/index.js');

const golden = (type) => require(`../../test/methods/golden/${type}.json`);

const ownFields = (typeName, resource) => {
  const common = schema.getType(resource).getFields();
  return Object.values(schema.getType(typeName).getFields())
    .filter(({ name, type }) => !(name in common) && isLeafType(getNamedType(type)))
    .map(({ name }) => name);
};

const size = ({ input }) => JSON.stringify(input.method).length;

const fieldOf = ({ input }) => Object.keys(input.method)[0];

/** Returns one sample per input field: the shortest create, or the longest if the payment can be confirmed. */
function samplesOf(creates, confirmed) {
  const byField = Map.groupBy(creates, fieldOf);
  return [...byField.values()].map((group) => {
    const [shortest, ...longer] = group.toSorted((one, other) => size(one) - size(other));
    const { input } = confirmed ? (longer.at(-1) ?? shortest) : shortest;
    const actions = group.flatMap(({ data }) => data.nextAction?.__typename ?? []);
    return {
      currency: input.amount.currency,
      method: input.method,
      nextActions: [...new Set(['RedirectAction', ...actions])],
    };
  });
}

const payments = paymentMethods.map((definition) => {
  const { create, confirm = [] } = golden(definition.type).payment;
  const type = definition.paymentClass.name;
  const confirmation = definition.confirmation && confirm[0].input.confirmation;
  return {
    type,
    about: definition.description,
    fields: ownFields(type, 'PaymentResource'),
    samples: samplesOf(create, confirmation),
    confirmation,
  };
});

const payouts = payoutMethods.map((definition) => ({
  type: definition.payoutClass.name,
  about: definition.description,
  fields: ownFields(definition.payoutClass.name, 'PayoutResource'),
  samples: samplesOf(golden(definition.type).payout.create).map(({ currency, method }) => ({
    currency,
    method,
  })),
}));

const plugin = () => `${JSON.stringify({ payments, payouts }, null, 2)}\n`;

module.exports = { plugin };
