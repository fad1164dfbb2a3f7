// explorer/methods.json, from the registry and the golden bodies: what the explorer makes its ready operations of.
const { getNamedType, isLeafType } = require('graphql');
const schema = require('./schema.cjs')();
const { paymentRooms, payoutRooms } = require('../../dist/schema/methods/index.js');

const golden = (type) => require(`../../test/methods/golden/${type}.json`);

const ownFields = (typeName, resource) => {
  const common = schema.getType(resource).getFields();
  return Object.values(schema.getType(typeName).getFields())
    .filter(({ name, type }) => !(name in common) && isLeafType(getNamedType(type)))
    .map(({ name }) => name);
};

const size = ({ input }) => JSON.stringify(input.method).length;

const armOf = ({ input }) => Object.keys(input.method)[0];

/** One sample per way to ask for the method; of several the shortest, or the fullest where it can be confirmed. */
function samplesOf(creates, confirmed) {
  const ways = Map.groupBy(creates, armOf);
  return [...ways.values()].map((way) => {
    const [shortest, ...longer] = way.toSorted((one, other) => size(one) - size(other));
    const { input } = confirmed ? (longer.at(-1) ?? shortest) : shortest;
    const actions = way.flatMap(({ data }) => data.nextAction?.__typename ?? []);
    return {
      currency: input.amount.currency,
      method: input.method,
      nextActions: [...new Set(['RedirectAction', ...actions])],
    };
  });
}

const payments = paymentRooms.map((room) => {
  const { create, confirm = [] } = golden(room.type).payment;
  const type = room.payment.name;
  const confirmation = room.confirmation && confirm[0].input.confirmation;
  return {
    type,
    about: room.description,
    fields: ownFields(type, 'PaymentResource'),
    samples: samplesOf(create, confirmation),
    confirmation,
  };
});

const payouts = payoutRooms.map((room) => ({
  type: room.payout.name,
  about: room.description,
  fields: ownFields(room.payout.name, 'PayoutResource'),
  samples: samplesOf(golden(room.type).payout.create).map(({ currency, method }) => ({ currency, method })),
}));

const plugin = () => `${JSON.stringify({ payments, payouts }, null, 2)}\n`;

module.exports = { plugin };
